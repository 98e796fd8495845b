"""The entries of folders of rules, read and checked alone and against each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from loganalyst import rulefiles
from loganalyst.diagnosis import rulereading, rulesql
from loganalyst.diagnosis.rule import ANY_SYMPTOM, ExperimentRule, NoteRule, Rule, SymptomRule
from loganalyst.diagnosis.rulereader import Reader
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


@dataclass
class Entries:
    """The checked entries of our catalogue by id, with their judged weights; and `Catalogue.unanswered` of them."""

    rules: dict[str, Rule] = field(default_factory=dict)
    symptoms: dict[str, SymptomRule] = field(default_factory=dict)
    notes: dict[str, NoteRule] = field(default_factory=dict)
    experiments: dict[str, ExperimentRule] = field(default_factory=dict)
    settled: dict[str, bool | None] = field(default_factory=dict)


@dataclass(kw_only=True)
class EntryReader(Entries):
    """Reads folders. It holds the entries read so far."""

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
        """The rule of a file (None: there is none), and its own faults."""
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
        """The reader of a file, or why it cannot be read."""
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
