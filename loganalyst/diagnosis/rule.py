"""What a rule consists of, after checking: frozen data, no behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from loganalyst.diagnosis.rulesql import Ask
from loganalyst.diagnosis.texttemplate import Template
from loganalyst.model import FeatureValue, Verdict
from loganalyst.rulefiles import Shape, needed

MAX_WEIGHT = 7.0  # |log-likelihood ratio|; e^7 is a thousandfold, more is never known so well
Weight = Annotated[
    float, needed(f"a number from {-MAX_WEIGHT:g} to {MAX_WEIGHT:g} is needed", ge=-MAX_WEIGHT, le=MAX_WEIGHT)
]
Severity = Literal["info", "warning", "error", "critical"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Scale = Literal["causes", "circumstantial", "logs", "healthy"]  # what is calibrated by itself, see Weights


@dataclass(frozen=True)
class SymptomRule:
    """Something to be seen wrong. `at` names the feature of its step, `metric` the text feature of its metric.

    It is `core` in the kinds of run (feature `run_kind`) that should let us look for it; where such a run does not,
    "healthy" is less sure. `told` are phrases by which people name it.
    """

    id: str
    title: str
    ask: Ask
    says: Template
    at: str | None = None
    metric: str | None = None
    core: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """One item of evidence. `if_true` and `if_false` are log-likelihood ratios (natural logarithm)."""

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


@dataclass(frozen=True)
class FixTemplate:
    """One change to make. `start` and `goal` are the file's `from` and `to`, `expect` what a good run then answers."""

    change: Template
    expected_impact: Template
    verify: Template
    start: Template | None = None
    goal: Template | None = None
    otherwise: Template | None = None
    if_not: Template | None = None
    expect: Ask | None = None


@dataclass(frozen=True)
class RuleTest:
    """A test written in the rule: `features` (the rest not known) or the fixture `run`, and the verdicts accepted."""

    name: str
    verdicts: tuple[Verdict, ...]
    features: Mapping[str, FeatureValue] | None = None
    run: str | None = None


@dataclass(frozen=True)
class Rule:
    """One possible cause and all that is said of it; the fields are those of its file."""

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

    @property
    def asks(self) -> tuple[Ask, ...]:
        """Every question that it is judged by, and those that its fixes promise an answer to."""
        judged = (self.applies_when, *(item.ask for item in self.evidence))
        return tuple(ask for ask in (*judged, *(fix.expect for fix in self.fix)) if ask is not None)

    @property
    def benign(self) -> bool:
        """Whether it explains a symptom as harmless (label `healthy`), such as a plateau by convergence."""
        return self.label == "healthy"


@dataclass(frozen=True)
class OutcomeRule:
    """One thing an experiment may find: what it means, and the log-likelihood ratio it has for a rule id or label."""

    means: str
    weights: Mapping[str, float]


@dataclass(frozen=True)
class ExperimentRule:
    """What an experiment of `replay` asks, and what each outcome says, stated before it is run. `limits` are its
    thresholds; of the experiments of one `group` the one that says most counts.
    """

    id: str
    question: str
    group: str
    limits: Mapping[str, float]
    outcomes: Mapping[str, OutcomeRule]

    def weight(self, rule: Rule, outcome: str) -> float:
        """The log-likelihood ratio of an outcome for a rule: that which the rule brings itself, else that by its id,
        else by its label; 0 where it says nothing.
        """
        if self.id in rule.replay_weights:
            return rule.replay_weights[self.id].get(outcome, 0.0)
        weights = self.outcomes[outcome].weights if outcome in self.outcomes else {}
        return weights.get(rule.id, weights.get(rule.label, 0.0))

    def bears_on(self, rule: Rule) -> bool:
        """Whether some outcome says something of the rule."""
        return any(self.weight(rule, outcome) for outcome in self.outcomes)


@dataclass(frozen=True)
class NoteTest:
    """A test written with a note: `features` (the rest not known), and whether it is shown."""

    name: str
    shown: bool
    features: Mapping[str, FeatureValue]


@dataclass(frozen=True)
class NoteRule:
    """What is worth knowing of a run and is no fault. `ask` is TRUE where it is shown; `doubt` is the log-odds that it
    takes from "healthy", and `perhaps` the rules whose causes may look just so. Where one of `blind` is shown, nothing
    was read that could show health: a run without a symptom has "insufficient_data" then.
    """

    id: str
    title: str
    ask: Ask
    says: Template
    change: Template
    tests: tuple[NoteTest, ...]
    doubt: float = 0.0
    perhaps: tuple[str, ...] = ()
    blind: bool = False


class Calibration(Shape, frozen=True):
    """Platt scaling of log-odds: calibrated = slope * log-odds + offset. The identity where nothing was fitted."""

    slope: Annotated[float, needed("a number from 0.01 to 100 is needed", ge=0.01, le=100)] = 1.0
    offset: Annotated[float, needed("a number from -20 to 20 is needed", ge=-20, le=20)] = 0.0


@dataclass(frozen=True)
class Weights:
    """What was fitted on labelled runs: rule -> item -> (if_true, if_false), and the `scales`: the calibration of
    causes that metrics show directly, of those with circumstantial evidence alone, of those that a job's log states,
    and of "healthy".
    """

    items: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    scales: Mapping[Scale, Calibration] = field(default_factory=dict)
