"""The catalogue: all rules, symptoms, notes and experiments of some folders, checked alone and against each other."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import polars as pl

from loganalyst import rulefiles
from loganalyst.diagnosis import healthyruns, rulesql
from loganalyst.diagnosis.catalogueentries import Entries, EntryReader
from loganalyst.diagnosis.healthyruns import HealthyRuns, sizes
from loganalyst.diagnosis.rule import Calibration, ExperimentRule, Item, NoteRule, Rule, Scale, SymptomRule, Weights
from loganalyst.diagnosis.ruleentries import RatiosEntry
from loganalyst.diagnosis.rulereader import Reader
from loganalyst.diagnosis.rulesql import Ask
from loganalyst.errors import RuleError
from loganalyst.model import Feature

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
    state = EntryReader(
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
    state = EntryReader(declared=declared)
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
