"""What is found in a run: causes with their evidence and fixes, symptoms, and what was ruled out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from loganalyst.model.shortrepr import Short

OURS = "ours"  # the origin of what rests on our own catalogue alone
Verdict = Literal["likely", "possible", "unlikely", "unknown", "not_applicable"]


@dataclass(frozen=True, repr=False)
class Evidence(Short):
    """One item asked. `holds` None = not known; `weight` is the log-likelihood ratio that counted (0 if none)."""

    id: str
    kind: Literal["direct", "circumstantial"]
    holds: bool | None
    text: str
    weight: float = 0.0
    group: str = ""
    metric: str | None = None
    step: int | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Place:
    """Where a setting is written: `key` and `value` as they stand there, `line` from 1."""

    file: str
    line: int
    key: str
    value: str


@dataclass(frozen=True, repr=False)
class Fix(Short):
    """One change to make, filled with this run's values. `places` are where what it changes is written, as far as
    config and code were given to search.
    """

    change: str
    expected_impact: str
    verify: str
    if_not: str = ""
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, repr=False)
class Decider(Short):
    """What would settle an answer that is not sure: `what` to log (a role or table), or what to change and, in `check`,
    to look at then; and the titles of the causes (of a healthy run: of the symptoms) it would tell apart.
    """

    kind: Literal["log", "experiment"]
    what: str
    separates: tuple[str, ...] = ()
    check: str = ""


@dataclass(frozen=True, repr=False)
class Cause(Short):
    """A ranked root cause; the field names are those of the JSON contract. `ended_run`: it is likely, by the words of a
    log or of the scheduler, in a run that failed; such are named before all else that is true of the run. `family`:
    that of its rule, which part of training it is about. `origin`: OURS, or the file of a rule, or of a pattern of log
    lines, that is not ours.
    """

    id: str
    label: str
    issue: str
    severity: str
    confidence: float
    band: Literal["high", "medium", "low"]
    verdict: Verdict
    summary: str
    mechanism: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]
    will_not_fix: str = ""
    side_effects: str = ""
    prevention: str = ""
    references: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    onset_step: int | None = None
    metric: str | None = None
    file: str | None = None
    line: int | None = None
    rank: int | None = None
    node: str | None = None
    consequences: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    decide: tuple[Decider, ...] = ()
    ended_run: bool = False
    family: str = ""
    origin: str = OURS

    def _repr_html_(self) -> str:
        """The cause as a notebook shows it."""
        from loganalyst.report import prompt

        return prompt.cause(self)


@dataclass(frozen=True, repr=False)
class QuickFix(Short):
    """The first change to make for a cause. `impact` (0 to 1): how severe it is, times the share of the symptoms it
    explains; `confidence` that of the cause.
    """

    cause: str
    change: str
    expected_impact: str
    severity: str
    impact: float
    confidence: float


@dataclass(frozen=True, repr=False)
class Symptom(Short):
    """Something seen to be wrong, before any cause."""

    id: str
    title: str
    metric: str | None
    step: int | None
    text: str


@dataclass(frozen=True, repr=False)
class Told(Short):
    """A symptom the user told, held against the logs: `seen` True (confirmed), False (contradicted: looked for and not
    there), None (what would show it is not logged, or the text was not understood). `symptoms` are the ids it was
    understood as, `evidence` the features they were judged by, with value and place.
    """

    text: str
    verdict: Literal["confirmed", "contradicted", "not_visible", "not_understood"]
    seen: bool | None
    answer: str
    symptoms: tuple[str, ...] = ()
    evidence: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, repr=False)
class Note(Short):
    """What is worth knowing of a run and is no fault, such as time asked for and not used, and what to do about it."""

    id: str
    title: str
    text: str
    change: str
    origin: str = OURS


@dataclass(frozen=True, repr=False)
class Rival(Short):
    """A cause that would look just like a run that seems healthy and is doubted: `why` it is doubted, the probability
    that is left for it, and what would `decide`.
    """

    id: str
    title: str
    label: str
    confidence: float
    why: str
    decide: tuple[Decider, ...] = ()


@dataclass(frozen=True, repr=False)
class RuledOut(Short):
    """A cause that was considered and why it is not one. `verdict` is unlikely, not_applicable or unknown;
    `rival` is True where a symptom it could cause is seen; `confidence` is what such a rival that is unlikely has left
    beside the others (0 for all others).
    """

    id: str
    title: str
    verdict: Verdict
    why: str
    rival: bool = False
    label: str = ""
    confidence: float = 0.0
