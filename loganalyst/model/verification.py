"""Whether a fix helped, and the confirmed truth about a run."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loganalyst.model.baseline import Change
from loganalyst.model.causes import Cause
from loganalyst.model.diagnosis import Diagnosis
from loganalyst.model.shortrepr import Short


@dataclass(frozen=True)
class Expectation:
    """The promise of a fix, asked of the run after it. `holds`: None if not known, because `missing` was not logged."""

    change: str
    ask: str
    holds: bool | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class SymptomCheck:
    """A symptom of the old run, and whether it is gone (None: not logged)."""

    id: str
    title: str
    gone: bool | None


VerifyOutcome = Literal["fixed", "partly", "not", "new_problem", "cannot_tell"]


@dataclass(frozen=True, repr=False)
class CauseCheck(Short):
    """The outcome for one cause.

    `applied` says whether `changes` of settings reverse the cause (None: settings do not show its fix, or are not
    logged). `against` are changes of the same kind in the other direction.
    """

    id: str
    label: str
    issue: str
    confidence: float
    outcome: Literal["fixed", "partly", "not", "cannot_tell"]
    why: str
    expectations: tuple[Expectation, ...] = ()
    applied: bool | None = None
    changes: tuple[Change, ...] = ()
    against: tuple[Change, ...] = ()
    symptoms: tuple[SymptomCheck, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Lesson(Short):
    """The lesson of failed fixes: the confidence of a cause is lowered."""

    cause: str
    issue: str
    fixes: tuple[str, ...]
    before: float
    after: float
    text: str


@dataclass(frozen=True)
class Truth:
    """The truth about a run that a user confirmed: the rule (None: only a label, or healthy) and its label."""

    run: str
    path: str
    cause: str | None
    label: str
    note: str
    time: datetime


@dataclass(frozen=True, repr=False)
class Verification(Short):
    """Whether a fix helped: an old run compared with the run after the fix.

    `checks` has one entry per cause of the old run, the likeliest first. `new_causes` are likely in the new run only.

    >>> import loganalyst as la
    >>> found = la.verify("fixtures/runs/divergence-lr", "fixtures/runs/healthy-mended-rate")
    >>> found.outcome, found.checks[0].id
    ('fixed', 'lr-too-high')
    """

    old: "Diagnosis"
    new: "Diagnosis"
    outcome: VerifyOutcome
    checks: tuple[CauseCheck, ...]
    new_causes: tuple[Cause, ...] = ()
    lessons: tuple[Lesson, ...] = ()

    def to_json(self, *, indent: int | None = 2) -> str:
        """The JSON of the contract (schema loganalyst/verification/1).

        >>> import json
        >>> import loganalyst as la
        >>> found = la.verify("fixtures/runs/divergence-lr", "fixtures/runs/healthy-mended-rate")
        >>> json.loads(found.to_json())["outcome"]
        'fixed'
        """
        from loganalyst.report.verification import screen

        return screen.render_json(self, indent=indent)
