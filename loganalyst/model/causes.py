"""The results for a run: causes with evidence and fixes, symptoms, notes, and causes that were ruled out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from loganalyst.model.shortrepr import Short

OURS = "ours"  # the origin of results from our own catalogue
Verdict = Literal["likely", "possible", "unlikely", "unknown", "not_applicable"]


@dataclass(frozen=True, repr=False)
class Evidence(Short):
    """One item of evidence. `holds`: None if not known. `weight`: the log-likelihood ratio that counted (0 if none).
    `metrics` are all metrics that the answer rests on.
    """

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
    metrics: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a setting is written: `key` and `value` as in the file, `line` from 1."""

    file: str
    line: int
    key: str
    value: str


@dataclass(frozen=True, repr=False)
class Fix(Short):
    """One change to make, filled with this run's values.

    `places` is where the setting is written, if config or code was given to search.
    """

    change: str
    expected_impact: str
    verify: str
    if_not: str = ""
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, repr=False)
class CodeTemplate(Short):
    """Code for a fix, in a `framework`: pytorch, transformers or lightning."""

    id: str
    title: str
    framework: str
    code: str


@dataclass(frozen=True, repr=False)
class Decider(Short):
    """What would settle an unsure answer.

    `what` is a role or table to log, or a change to make; `check` says how to check the effect of the change.
    `separates` are the titles of the causes (for a healthy run: of the symptoms) that it would distinguish.
    """

    kind: Literal["log", "experiment"]
    what: str
    separates: tuple[str, ...] = ()
    check: str = ""


@dataclass(frozen=True, repr=False)
class Cause(Short):
    """A ranked root cause. The field names are those of the JSON contract.

    `ended_run`: the words of a log or of the scheduler make it likely, in a failed run; such causes come first.
    `family` is the family of its rule: the part of training that it concerns. `origin` is OURS, or the file of the
    user's rule or pattern. `limits` are the reasons for which its confidence is limited. `templates` are code for its
    fixes.
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
    limits: tuple[str, ...] = ()
    templates: tuple[CodeTemplate, ...] = ()

    def _repr_html_(self) -> str:
        """The cause as a notebook shows it."""
        from loganalyst.report import prompt

        return prompt.cause(self)


@dataclass(frozen=True, repr=False)
class QuickFix(Short):
    """The first change to make for a cause.

    `impact` (0 to 1) is the severity of the cause times the share of symptoms that it explains. `confidence` is that of
    the cause.
    """

    cause: str
    change: str
    expected_impact: str
    severity: str
    impact: float
    confidence: float


@dataclass(frozen=True, repr=False)
class Symptom(Short):
    """Something that is visibly wrong, before any cause. `expected` says what a healthy run does in its place; `origin`
    is OURS, or the file of a user's own symptom.
    """

    id: str
    title: str
    metric: str | None
    step: int | None
    text: str
    expected: str = ""
    origin: str = OURS


@dataclass(frozen=True, repr=False)
class DecidingScript(Short):
    """A diagnostic script that would decide an unsure diagnosis: its `name`, and what it `answers`."""

    name: str
    answers: str


@dataclass(frozen=True, repr=False)
class Told(Short):
    """A symptom that the user reported, compared with the logs.

    `seen` is True (confirmed), False (contradicted: looked for and not seen) or None (not logged, or the text was not
    understood). `symptoms` are the ids that the text means, `evidence` the features that they were judged by, with
    value and place.
    """

    text: str
    verdict: Literal["confirmed", "contradicted", "not_visible", "not_understood"]
    seen: bool | None
    answer: str
    symptoms: tuple[str, ...] = ()
    evidence: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, repr=False)
class Note(Short):
    """Something worth knowing that is no fault, such as requested time that was not used, and what to do about it."""

    id: str
    title: str
    text: str
    change: str
    origin: str = OURS


@dataclass(frozen=True, repr=False)
class Rival(Short):
    """A cause that would look the same as this healthy run.

    `why` says why the health is doubtful, `confidence` is the probability of the cause, `decide` what would settle it.
    """

    id: str
    title: str
    label: str
    confidence: float
    why: str
    decide: tuple[Decider, ...] = ()


@dataclass(frozen=True, repr=False)
class RuledOut(Short):
    """A cause that was considered and is not stated, and why.

    `verdict` is unlikely, not_applicable or unknown. `rival`: a symptom that it could cause was seen.
    """

    id: str
    title: str
    verdict: Verdict
    why: str
    rival: bool = False
    label: str = ""


@dataclass(frozen=True, repr=False)
class Alternative(Short):
    """A cause that may be the right one instead of those stated.

    `probability` sums with those of its rivals to at most 1; `supported_by` is the evidence for it, `why` the evidence
    against it or why others come first.
    """

    id: str
    title: str
    label: str
    probability: float
    supported_by: tuple[str, ...]
    why: str
