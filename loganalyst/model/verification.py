"""Whether a fix helped, and what a run turned out to have had."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loganalyst.model.baseline import Change
from loganalyst.model.causes import Cause
from loganalyst.model.diagnosis import Diagnosis
from loganalyst.model.shortrepr import Short


@dataclass(frozen=True)
class Expectation:
    """What a fix promises, asked of the run made after it: `holds` None = not known, for want of `missing`."""

    change: str
    ask: str
    holds: bool | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class SymptomCheck:
    """A symptom that was seen before: whether it is gone (None: what would show it is not logged)."""

    id: str
    title: str
    gone: bool | None


VerifyOutcome = Literal["fixed", "partly", "not", "new_problem", "cannot_tell"]


@dataclass(frozen=True, repr=False)
class CauseCheck(Short):
    """What became of one cause. `applied` tells whether a change was seen that takes it back (`changes`; None: its fix
    is none that settings show, or they are not logged), `against` those changes of the same kind that do not.
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
    """What failed fixes of one cause teach: the cause is lowered from a confidence to another."""

    cause: str
    issue: str
    fixes: tuple[str, ...]
    before: float
    after: float
    text: str


@dataclass(frozen=True)
class Truth:
    """What a user confirmed of a run: the rule (None: only a label is known, or it is healthy) and its label."""

    run: str
    path: str
    cause: str | None
    label: str
    note: str
    time: datetime


@dataclass(frozen=True, repr=False)
class Verification(Short):
    """Whether a fix helped: an old run against the one made after it. `checks` has one entry a cause of the old run,
    the likeliest first; `new_causes` are likely in the new run and were none of the old one's.

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
