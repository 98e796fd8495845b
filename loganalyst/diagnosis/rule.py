"""Checked rules, symptoms, notes and experiments, as frozen data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

import msgspec

from loganalyst.diagnosis.calibrationkind import CalibrationKind
from loganalyst.diagnosis.rulesql import Ask
from loganalyst.diagnosis.texttemplate import Template
from loganalyst.model import OURS, FeatureValue, TrainingKindName, Verdict
from loganalyst.rulefiles import Shape, needed

ANY_SYMPTOM = "any"  # in `unless_seen` of notes
Recommends = Literal["resume", "stop_earlier", "regularise", "train_longer", "ready"]  # the most pressing first
MAX_WEIGHT = 7.0  # |log-likelihood ratio|; e^7 is about a thousandfold, and no stronger evidence is known that well
Weight = Annotated[
    float, needed(f"a number from {-MAX_WEIGHT:g} to {MAX_WEIGHT:g} is needed", ge=-MAX_WEIGHT, le=MAX_WEIGHT)
]
Severity = Literal["info", "warning", "error", "critical"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Kinds = tuple[TrainingKindName, ...]
Scale = Literal["causes", "circumstantial", "logs", "healthy", "unknown"]  # each has its own calibration; see Weights
Shift = Annotated[float, needed("a number from -20 to 20 is needed", ge=-20, le=20)]


class Limit(NamedTuple):
    """The highest confidence that a cause may have, and why."""

    highest: float
    why: str


@dataclass(frozen=True)
class SymptomRule:
    """A visible symptom. `at` names the feature of its step, `metric` the text feature of its metric.

    `core` are the kinds of run (feature `run_kind`) that should show it; if such a run cannot, "healthy" is less sure.
    `told` are phrases that people use for it. `if_reported` is the question instead of `ask` if the user reports it.
    `origin` is OURS, or the file of a user's own symptom.
    """

    id: str
    title: str
    ask: Ask
    says: Template
    at: str | None = None
    metric: str | None = None
    core: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    if_reported: Ask | None = None
    kinds: Kinds = ()
    excluded_kinds: Kinds = ()
    origin: str = OURS


@dataclass(frozen=True)
class Item:
    """One item of evidence. `if_true` and `if_false` are log-likelihood ratios (natural logarithm).

    An answer against the cause does not exclude it where `rules_out` is no.
    """

    id: str
    kind: Literal["direct", "circumstantial"]
    group: str
    ask: Ask
    if_true: float
    if_false: float
    basis: Literal["measured", "judged"]
    says: Template
    says_if_false: Template | None = None
    otherwise: Template | None = None
    at: str | None = None
    rules_out: bool = True


@dataclass(frozen=True)
class FixTemplate:
    """One change. `start` and `goal` are the file's `from` and `to`; `expect` holds in a good run after it.

    The change is offered where `when` is TRUE and `unless` is not.
    """

    change: Template
    expected_impact: Template
    verify: Template
    start: Template | None = None
    goal: Template | None = None
    otherwise: Template | None = None
    if_not: Template | None = None
    expect: Ask | None = None
    when: Ask | None = None
    unless: Ask | None = None

    @property
    def conditions(self) -> tuple[Ask, ...]:
        """The questions that decide whether the change is offered."""
        return tuple(ask for ask in (self.when, self.unless) if ask is not None)

    def suits(self, answered: Mapping[str, bool | None]) -> bool:
        """Whether it is offered to a run with these answers to its conditions, by their texts."""
        wanted = self.when is None or answered.get(self.when.text) is True
        return wanted and (self.unless is None or answered.get(self.unless.text) is not True)


@dataclass(frozen=True)
class RuleTest:
    """A test in a rule: `features` (all others unknown) or the fixture `run`, and the accepted verdicts."""

    name: str
    verdicts: tuple[Verdict, ...]
    features: Mapping[str, FeatureValue] | None = None
    run: str | None = None


@dataclass(frozen=True)
class Rule:
    """One possible cause. The fields are those of its file.

    `kinds` are the kinds of training that can have it (empty: all), `excluded_kinds` those that cannot. One that
    `restates_symptom` says what is visible, and gives no reason.
    """

    id: str
    title: str
    label: str
    status: str
    since: str
    family: str
    severity: str
    prior: float
    symptoms: tuple[str, ...]
    summary: str
    mechanism: str
    evidence: tuple[Item, ...]
    fix: tuple[FixTemplate, ...]
    will_not_fix: str
    tests: tuple[RuleTest, ...]
    path: Path
    applies_when: Ask | None = None
    explains: tuple[str, ...] = ()
    side_effects: str = ""
    prevention: str = ""
    replay: tuple[str, ...] = ()
    replay_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by experiment and outcome
    references: tuple[str, ...] = ()
    kinds: Kinds = ()
    excluded_kinds: Kinds = ()
    restates_symptom: bool = False

    @property
    def asks(self) -> tuple[Ask, ...]:
        """Every question of its evidence and applicability, and of its fixes' conditions and promises."""
        judged = (self.applies_when, *(item.ask for item in self.evidence))
        fixes = (ask for fix in self.fix for ask in (*fix.conditions, fix.expect))
        return tuple(ask for ask in (*judged, *fixes) if ask is not None)

    @property
    def benign(self) -> bool:
        """Whether it explains a symptom as harmless (label `healthy`), such as a plateau after convergence."""
        return self.label == "healthy"


@dataclass(frozen=True)
class OutcomeRule:
    """One outcome of an experiment: its meaning, and its log-likelihood ratios by rule id or label."""

    means: str
    weights: Mapping[str, float]


@dataclass(frozen=True)
class ExperimentRule:
    """The question of a `replay` experiment and the meaning of each outcome, stated before it is run.

    `limits` are its thresholds. Of the experiments of one `group`, only the most decisive counts.
    """

    id: str
    question: str
    group: str
    limits: Mapping[str, float]
    outcomes: Mapping[str, OutcomeRule]

    def weight(self, rule: Rule, outcome: str) -> float:
        """The log-likelihood ratio of an outcome for a rule: the rule's own, else by id, else by label, else 0."""
        if self.id in rule.replay_weights:
            return rule.replay_weights[self.id].get(outcome, 0.0)
        weights = self.outcomes[outcome].weights if outcome in self.outcomes else {}
        return weights.get(rule.id, weights.get(rule.label, 0.0))

    def bears_on(self, rule: Rule) -> bool:
        """Whether some outcome has a weight for the rule."""
        return any(self.weight(rule, outcome) for outcome in self.outcomes)


@dataclass(frozen=True)
class NoteTest:
    """A test of a note: `features` (all others unknown), and whether the note is shown."""

    name: str
    shown: bool
    features: Mapping[str, FeatureValue]


@dataclass(frozen=True)
class NoteRule:
    """Something worth knowing about a run that is no fault. It is shown if `ask` is TRUE.

    `doubt` is the log-odds that it takes from "healthy"; `perhaps` are rules whose causes may look the same. If a
    `blind` note is shown, nothing in the input could show health: without a symptom the run has "insufficient_data".
    The symptoms in `excuses` are no fault while no cause is likely.
    The note is left out where a symptom in `unless_seen`, which says the same, is seen; `any` (ANY_SYMPTOM) stands for
    each symptom that is not harmless.
    A note that `recommends` something is for healthy runs, and with `without_health` for runs of unknown cause, too.
    A note that `doubts_end` says that the run may have been cut off.
    """

    id: str
    title: str
    ask: Ask
    says: Template
    change: Template
    tests: tuple[NoteTest, ...]
    path: Path
    doubt: float = 0.0
    perhaps: tuple[str, ...] = ()
    blind: bool = False
    excuses: tuple[str, ...] = ()
    unless_seen: tuple[str, ...] = ()
    recommends: Recommends | None = None
    without_health: bool = False
    doubts_end: bool = False
    kinds: Kinds = ()
    excluded_kinds: Kinds = ()


class Calibration(Shape, frozen=True):
    """Platt scaling of log-odds: calibrated = slope * log-odds + offset. The identity where nothing was fitted.

    Log-odds count up to `reach` in size. `kinds` add to the offset by the kind of run.
    """

    slope: Annotated[float, needed("a number from 0.01 to 100 is needed", ge=0.01, le=100)] = 1.0
    offset: Shift = 0.0
    reach: Annotated[float, needed("a number from 0 to 21 is needed", ge=0, le=21)] = 21.0
    kinds: dict[CalibrationKind, Shift] = msgspec.field(default_factory=dict)


@dataclass(frozen=True)
class Weights:
    """Weights fitted on labelled runs: rule -> item -> (if_true, if_false), and one calibration per scale.

    The scales are causes that metrics show directly, causes with circumstantial evidence only, causes that a job's log
    states, "healthy", and faults that no rule explains.
    """

    items: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    scales: Mapping[Scale, Calibration] = field(default_factory=dict)
