"""Rules, symptoms, notes and experiments as their files state them."""

from typing import Annotated, Any, Literal

import msgspec

from loganalyst.diagnosis.rule import MAX_WEIGHT, Kinds, Recommends, Severity, Weight
from loganalyst.model import Verdict
from loganalyst.rulefiles import Finite, Shape, Text, needed

Weights = dict[str, Weight]


class RatiosEntry(Shape, frozen=True):
    """The log-likelihood ratios of both answers."""

    if_true: Weight
    if_false: Weight


class ItemEntry(Shape, frozen=True):
    """An item of evidence as its file states it."""

    id: Text
    kind: Literal["direct", "circumstantial"]
    ask: Text
    weight: RatiosEntry
    says: Text
    group: Text = ""
    basis: Literal["measured", "judged"] = "judged"
    says_if_false: Text = ""
    otherwise: Text = ""
    at: Text = ""
    rules_out: bool = True


class FixEntry(Shape, frozen=True):
    """A fix as its file states it."""

    change: Text
    expected_impact: Text
    verify: Text
    start: Text = msgspec.field(default="", name="from")
    goal: Text = msgspec.field(default="", name="to")
    otherwise: Text = ""
    if_not: Text = ""
    expect: Text = ""
    when: Text = ""
    unless: Text = ""


class ExpectedEntry(Shape, frozen=True):
    """The verdicts that a test of a rule expects."""

    verdict: Verdict | tuple[Verdict, ...]


class TestEntry(Shape, frozen=True):
    """A test of a rule: features, or a run, and the verdict."""

    name: Text
    expect: ExpectedEntry
    features: dict[str, Any] | None = None
    run: Text | None = None


class RuleEntry(Shape, frozen=True):
    """A rule as its file states it."""

    id: Text
    title: Text
    label: Text
    status: Literal["preview", "stable", "deprecated"]
    since: Text
    family: Text
    severity: Severity
    prior: Annotated[float, needed("a number from 0.0001 to 0.9 is needed", ge=0.0001, le=0.9)]
    symptoms: tuple[Text, ...]
    summary: Text
    mechanism: Text
    evidence: tuple[ItemEntry, ...]
    fix: tuple[FixEntry, ...]
    will_not_fix: Text
    tests: tuple[TestEntry, ...]
    applies_when: Text = ""
    explains: tuple[Text, ...] = ()
    side_effects: Text = ""
    prevention: Text = ""
    replay: tuple[Text, ...] | dict[str, Weights] = ()
    references: tuple[Text, ...] = ()
    kinds: Kinds = ()
    excluded_kinds: Kinds = ()
    restates_symptom: bool = False


class SymptomEntry(Shape, frozen=True):
    """A symptom as its file states it."""

    title: Text
    ask: Text
    says: Text
    at: Text = ""
    metric: Text = ""
    core: tuple[Text, ...] = ()
    told: tuple[Text, ...] = ()
    if_reported: Text = ""
    kinds: Kinds = ()
    excluded_kinds: Kinds = ()


class NoteTestEntry(Shape, frozen=True):
    """A test of a note: features, and whether it is shown."""

    name: Text
    shown: bool
    features: dict[str, Any]


class NoteEntry(Shape, frozen=True):
    """A note as its file states it."""

    title: Text
    ask: Text
    says: Text
    change: Text
    tests: tuple[NoteTestEntry, ...]
    doubt: Annotated[float, needed(f"a number from 0 to {MAX_WEIGHT:g} is needed", ge=0, le=MAX_WEIGHT)] = 0.0
    perhaps: tuple[Text, ...] = ()
    blind: bool = False
    excuses: tuple[Text, ...] = ()
    unless_seen: tuple[Text, ...] = ()
    recommends: Recommends | None = None
    without_health: bool = False
    doubts_end: bool = False
    kinds: Kinds = ()
    excluded_kinds: Kinds = ()


class OutcomeEntry(Shape, frozen=True):
    """What an experiment may find, and what that weighs for each cause."""

    means: Text
    weights: Weights


class ExperimentEntry(Shape, frozen=True):
    """An experiment as its file states it."""

    question: Text
    outcomes: Annotated[dict[str, OutcomeEntry], needed("what may be found, each with means and weights", min_length=1)]
    group: Text = ""
    limits: dict[str, Finite] = msgspec.field(default_factory=dict)
