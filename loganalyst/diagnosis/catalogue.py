"""The catalogue: all rules, symptoms, notes and experiments of some folders, checked alone and against each other."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, get_args

import polars as pl

from loganalyst import rulefiles
from loganalyst.diagnosis import healthyruns, rulereading, rulesql
from loganalyst.diagnosis.healthyruns import HealthyRuns, sizes
from loganalyst.diagnosis.rule import (
    ANY_SYMPTOM,
    Calibration,
    ExperimentRule,
    Item,
    NoteRule,
    Rule,
    Scale,
    SymptomRule,
    Weights,
)
from loganalyst.diagnosis.ruleentries import RatiosEntry
from loganalyst.diagnosis.rulereading import Reader
from loganalyst.diagnosis.rulesql import Ask
from loganalyst.errors import RuleError, nearest
from loganalyst.model import Feature
from loganalyst.model.labels import LABELS

T = TypeVar("T")
NOT_RULES = (
    "accelerators.yaml", "accounts.yaml", "anonymous.yaml", "blame.yaml", "changes.yaml", "closing.yaml",
    "columns.yaml", "comparing.yaml", "configured.yaml", "expected.yaml", "features.yaml", "fixtemplates.yaml",
    "healthyruns.yaml", "inspection.yaml", "kinds.yaml", "layouts.yaml", "notes.yaml", "openings.yaml", "reading.yaml",
    "reference.yaml", "replay.yaml", "restart.yaml", "results.yaml", "roles.yaml", "schedulers.yaml",
    "scripts.yaml", "settings.yaml", "stacks.yaml", "symptoms.yaml", "tiers.yaml", "tokenizers.yaml",
    "verdicts.yaml", "weights.yaml", "wording.yaml", "words.yaml",
)  # fmt: skip
FOLDERS_WITHOUT_RULES = ("reference", "settings", "text", "trainers")  # healthy runs, checks, log lines, trainers
SCALES: tuple[Scale, ...] = get_args(Scale)


@dataclass(frozen=True)
class Catalogue:
    """All rules, symptoms, notes and experiments by id, and the features they may ask for.

    `scales` are the fitted calibrations (`Weights`). `problems` are the faults of the user's left-out entries.
    `settled` are answers of `unanswered` that are known before. `healthy_runs` are those that values are compared with.
    """

    rules: Mapping[str, Rule]
    symptoms: Mapping[str, SymptomRule]
    declared: Mapping[str, Feature]
    scales: Mapping[Scale, Calibration] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    notes: Mapping[str, NoteRule] = field(default_factory=dict)
    experiments: Mapping[str, ExperimentRule] = field(default_factory=dict)
    settled: Mapping[str, bool | None] = field(default_factory=dict)
    healthy_runs: HealthyRuns = field(default_factory=HealthyRuns)

    @cached_property
    def size_claims(self) -> Mapping[str, Mapping[int, tuple[str, ...]]]:
        """The direct evidence about sizes alone: rule -> position of the item -> the features of its sizes."""
        claims = {
            rule.id: {
                i: found
                for i, item in enumerate(rule.evidence)
                if item.kind == "direct" and item.if_true > 0
                if (found := sizes(item.ask.features, self.declared))
            }
            for rule in self.rules.values()
            if not rule.benign
        }
        return {id_: found for id_, found in claims.items() if found}

    @cached_property
    def types(self) -> pl.Schema:
        """The columns of the feature table."""
        return rulesql.schema(self.declared)

    @cached_property
    def questions(self) -> tuple[Ask, ...]:
        """Every question of symptoms, notes, rules and evidence, each text once."""
        asks = [ask for symptom in self.symptoms.values() for ask in (symptom.ask, symptom.if_reported) if ask]
        asks += [note.ask for note in self.notes.values()]
        for rule in self.rules.values():
            asks += [rule.applies_when] if rule.applies_when else []
            asks += [item.ask for item in rule.evidence]
        return tuple({ask.text: ask for ask in (*asks, *self.conditions)}.values())

    @cached_property
    def conditions(self) -> tuple[Ask, ...]:
        """Every condition of a fix."""
        return tuple(ask for rule in self.rules.values() for fix in rule.fix for ask in fix.conditions)

    @cached_property
    def unanswered(self) -> Mapping[str, bool | None]:
        """The answer to each question, by its text, if no feature is known."""
        open_ = [ask for ask in self.questions if ask.text not in self.settled]
        nothing = pl.DataFrame(schema={name: self.types[name] for ask in open_ for name in ask.features}).clear(1)
        answers = {**self.settled, **(nothing.select(ask.expr for ask in open_).row(0, named=True) if open_ else {})}
        return {ask.text: answers[ask.text] for ask in self.questions}

    def weighted(self, weights: Weights) -> "Catalogue":
        """The same catalogue with fitted weights. Raises KeyError for an unknown rule."""
        rules = {id_: _refitted(self.rules[id_], items) for id_, items in weights.items.items()}
        return replace(self, rules={**self.rules, **rules}, scales=weights.scales)

    def calibration(self, scale: Scale) -> Calibration:
        """The calibration of a scale; the identity if none was fitted."""
        return self.scales.get(scale, Calibration())

    def only(self, ids: Collection[str]) -> "Catalogue":
        """The same catalogue with only these rules and notes."""
        rules = {id_: rule for id_, rule in self.rules.items() if id_ in ids}
        return replace(self, rules=rules, notes={id_: note for id_, note in self.notes.items() if id_ in ids})


@dataclass
class Entries:
    """The checked entries of our catalogue by id, with their judged weights; and `Catalogue.unanswered` of them."""

    rules: dict[str, Rule] = field(default_factory=dict)
    symptoms: dict[str, SymptomRule] = field(default_factory=dict)
    notes: dict[str, NoteRule] = field(default_factory=dict)
    experiments: dict[str, ExperimentRule] = field(default_factory=dict)
    settled: dict[str, bool | None] = field(default_factory=dict)


@dataclass(kw_only=True)
class _Load(Entries):
    """The entries read so far."""

    declared: Mapping[str, Feature]
    ids: dict[str, Path] = field(default_factory=dict)  # of the rules left out as well
    files: dict[Path, rulefiles.RuleFile] = field(default_factory=dict)
    listed: set[Path] = field(default_factory=set)  # in the present folder, without links that lead out of it

    def folder(self, folder: Path) -> list[RuleError]:
        """Read one folder and leave out faulty entries. Returns the faults."""
        self.listed = set(rulefiles.yaml_files(folder))
        faults = self.read_several(folder / "symptoms.yaml", "symptom", rulereading.symptoms, self.symptoms)
        faults += self.read_several(folder / "notes.yaml", "note", rulereading.notes, self.notes)
        faults += self.read_several(folder / "replay.yaml", "experiment", rulereading.experiments, self.experiments)
        read = [self.read_rule(path, folder) for path in rule_files(folder)]
        refused = rulesql.faults(self.asks([rule for rule, own in read if rule is not None and not own]), self.declared)
        faults += self.left_out(refused, self.symptoms) + self.left_out(refused, self.notes)
        for rule, own in read:
            own.extend([] if rule is None else [refused[ask.where] for ask in rule.asks if ask.where in refused])
            own.extend([] if rule is None else self.references(rule))
            faults += own
            if rule is not None and not own:
                self.rules[rule.id] = rule
        faults += self.misnamed(folder / "replay.yaml")
        return [*faults, *self.unknown_names(folder / "notes.yaml")]

    def read_several(
        self, path: Path, kind: str, read: Callable[[Reader], dict[str, T]], known: dict[str, T]
    ) -> list[RuleError]:
        """Add the entries of a file to the `known` ones, which stay as they are. Returns the faults."""
        if path not in self.listed:
            return []
        reader = self.reader(path)
        if isinstance(reader, RuleError):
            return [reader]
        found = read(reader)
        for id_ in set(found) & set(known):
            reader.note((id_,), f"{kind} {id_!r} exists already", f"a {kind} is defined once")
        known |= {id_: entry for id_, entry in found.items() if id_ not in known}
        return reader.faults

    def read_rule(self, path: Path, folder: Path) -> tuple[Rule | None, list[RuleError]]:
        reader = self.reader(path)
        if isinstance(reader, RuleError):
            return None, [reader]
        rule = rulereading.rule(reader)
        if rule is not None and path.parent != folder and rule.family != path.parent.name:
            reader.note(("family",), f"family is {rule.family!r}", f"the folder's name is needed: {path.parent.name!r}")
        if rule is not None and path != self.ids.setdefault(rule.id, path):
            reader.note(("id",), f"id {rule.id!r} is taken by {self.ids[rule.id]}", "an id is used once")
        return rule, reader.faults

    def asks(self, rules: Sequence[Rule]) -> Iterator[Ask]:
        """Every question of these rules, and of all symptoms and notes."""
        yield from (symptom.ask for symptom in self.symptoms.values())
        yield from (note.ask for note in self.notes.values())
        yield from (ask for rule in rules for ask in rule.asks)

    def left_out(self, refused: Mapping[str, RuleError], known: dict[str, Any]) -> list[RuleError]:
        """Remove the `known` entries whose question polars refuses. Returns the faults."""
        wrong = {id_: refused[entry.ask.where] for id_, entry in known.items() if entry.ask.where in refused}
        for id_ in wrong:
            del known[id_]
        return [*wrong.values()]

    def reader(self, path: Path) -> Reader | RuleError:
        try:
            self.files[path] = rulefiles.load(path)
        except RuleError as error:
            return error
        return Reader(self.files[path], self.declared)

    def references(self, rule: Rule) -> Iterator[RuleError]:
        """Names of unknown symptoms, rules and experiments, and experiments without a weight for the rule."""
        for key, kind, known in (
            ("symptoms", "symptom", set(self.symptoms)),
            ("explains", "different rule", set(self.ids) - {rule.id}),
            ("replay", "experiment", set(self.experiments)),
        ):
            for i, name in enumerate(getattr(rule, key)):
                if name not in known:
                    where = self.files[rule.path].where(key, i)
                    hint = nearest(name, known) or f"the id of a {kind} is needed"
                    yield RuleError(where, f"{key} names {name!r}", hint)
        yield from self.weightless(rule)

    def weightless(self, rule: Rule) -> Iterator[RuleError]:
        """Experiments of the rule that have no weight for it, and outcomes that they do not have."""
        for i, name in enumerate(rule.replay):
            if name not in self.experiments:
                continue
            outcomes = self.experiments[name].outcomes
            for outcome in sorted({*rule.replay_weights.get(name, ())} - {*outcomes}):
                where = self.files[rule.path].where("replay", name, outcome)
                hint = nearest(outcome, outcomes) or f"its outcomes are {', '.join(outcomes)}"
                yield RuleError(where, f"{name} has no outcome {outcome!r}", hint)
            if not self.experiments[name].bears_on(rule):
                where = self.files[rule.path].where("replay", name if name in rule.replay_weights else i)
                own = f"{{{name}: {{{next(iter(outcomes))}: 2.0}}}}"
                hint = f"rules/replay.yaml gives its weights by id or label ({rule.label}), or the rule: replay: {own}"
                yield RuleError(where, f"no outcome of {name!r} has a weight for this rule", hint)

    def misnamed(self, path: Path) -> Iterator[RuleError]:
        """Weights of a replay.yaml whose name is neither a rule nor a label."""
        known = {*self.ids, *LABELS}
        own = [e for id_, e in self.experiments.items() if path in self.files and id_ in self.files[path].data]
        for e in own:
            for outcome, found in e.outcomes.items():
                for name in sorted({*found.weights} - known):
                    where = self.files[path].where(e.id, "outcomes", outcome, "weights", name)
                    hint = nearest(name, known) or "the id of a rule or a common label is needed"
                    yield RuleError(where, f"weights name {name!r}", hint)

    def unknown_names(self, path: Path) -> Iterator[RuleError]:
        """Unknown rules in `perhaps`, and symptoms in `excuses` and `unless_seen`. Such a note is left out."""
        symptoms, rules = ("symptom", set(self.symptoms)), ("rule", set(self.ids))
        seen = ("symptom", {*self.symptoms, ANY_SYMPTOM})
        for key, (kind, known) in {"perhaps": rules, "excuses": symptoms, "unless_seen": seen}.items():
            for id_, name in [(id_, name) for id_, note in self.notes.items() for name in getattr(note, key)]:
                if name not in known:
                    where = self.files[path].where(id_, key)
                    hint = nearest(name, known) or f"the id of a {kind} is needed"
                    yield RuleError(where, f"{key} names {name!r}", hint)
                    self.notes.pop(id_, None)


def rule_files(folder: Path) -> list[Path]:
    """The files of a folder that hold one rule each: all except patterns, trainers and NOT_RULES."""
    return [
        path
        for path in rulefiles.yaml_files(folder)
        if path.relative_to(folder).parts[0] not in FOLDERS_WITHOUT_RULES
        and path.relative_to(folder).as_posix() not in NOT_RULES
    ]


def load(
    declared: Mapping[str, Feature],
    folders: Sequence[Path],
    *,
    fitted: bool = True,
    unquoted: Collection[Path] = (),
    ours: Entries | None = None,
) -> Catalogue:
    """Load the catalogue: `folders[0]` is our own, the others are the user's.

    `fitted` selects the fitted weights, else the judged ones. Faults quote nothing from files in the folders
    `unquoted`, which may belong to somebody else. Faults in our own folder raise one RuleError that lists them all.
    A faulty entry of a user's folder is left out and reported in `problems`. `ours` are the entries of our own folder,
    where they are known; they stay as they are.
    """
    known = ours or (entries(declared, folders[0]) if folders else Entries())
    state = _Load(
        # the user's entries are added to copies
        rules=dict(known.rules), symptoms=dict(known.symptoms), notes=dict(known.notes),
        experiments=dict(known.experiments), settled=dict(known.settled),
        declared=declared, ids={rule.id: rule.path for rule in known.rules.values()},
    )  # fmt: skip
    problems: list[str] = []
    for folder in folders[1:]:
        faults = state.folder(folder) if folder.is_dir() else [RuleError(folder, "is no folder")]
        problems += (str(f.unquoted() if folder in unquoted else f) for f in faults)
    healthy_runs, unread = healthyruns.load(folders)
    problems += (str(fault.unquoted() if unquoted else fault) for fault in unread)
    rules = dict(sorted(state.rules.items()))
    catalogue = Catalogue(
        rules, state.symptoms, declared, problems=tuple(problems), notes=state.notes, experiments=state.experiments,
        settled=state.settled, healthy_runs=healthy_runs,
    )  # fmt: skip
    weights = folders[0] / "weights.yaml" if folders and fitted else Path()
    return catalogue.weighted(_weights(catalogue, rulefiles.load(weights))) if weights.is_file() else catalogue


def entries(declared: Mapping[str, Feature], folder: Path) -> Entries:
    """The entries of our own folder. Raises one RuleError that lists all its faults."""
    state = _Load(declared=declared)
    faults = state.folder(folder) if folder.is_dir() else [RuleError(folder, "is no folder")]
    if faults:
        raise RuleError(folder, f"{len(faults)} faults in rules\n" + "\n".join(map(str, faults)))
    settled = dict(Catalogue(state.rules, state.symptoms, declared, notes=state.notes).unanswered)
    return Entries(state.rules, state.symptoms, state.notes, state.experiments, settled)


def _weights(catalogue: Catalogue, file: rulefiles.RuleFile) -> Weights:
    """The weights of a file. Raises RuleError for a weight that fits no item."""
    reader = Reader(file, catalogue.declared)
    ids = reader.fitted(dict[str, dict[str, Any]]).keys() - {"calibration"}
    known = {id_: {item.id for item in rule.evidence} for id_, rule in catalogue.rules.items()}
    reader.known_keys((), ids, known)
    scales = (
        reader.fitted(dict[Scale, Calibration], ("calibration",))
        if not reader.faults and "calibration" in file.data
        else {}
    )
    items = {}
    for id_ in ids & known.keys():
        ratios = reader.fitted(dict[str, RatiosEntry], (id_,))
        reader.known_keys((id_,), ratios, known[id_])
        items[id_] = {key: (found.if_true, found.if_false) for key, found in ratios.items()}
    if reader.faults:
        raise RuleError(file.path, "weights do not fit the rules\n" + "\n".join(map(str, reader.faults)))
    return Weights(items, scales)


def _refitted(rule: Rule, ratios: Mapping[str, tuple[float, float]]) -> Rule:
    def measured(item: Item, true: float, false: float) -> Item:
        return replace(item, if_true=true, if_false=false, basis="measured")

    evidence = tuple(measured(i, *ratios[i.id]) if i.id in ratios else i for i in rule.evidence)
    return replace(rule, evidence=evidence)
