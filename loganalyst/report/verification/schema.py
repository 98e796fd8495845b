"""The JSON Schema of `verify --format json`."""

from loganalyst.model import CauseCheck, Lesson, Status, VerifyOutcome
from loganalyst.report.common.schemaparts import (
    INTEGER,
    QUOTED,
    SETTINGS,
    SHARE,
    TEXT,
    Json,
    document,
    listed,
    object_,
    object_of,
    one_of,
    or_null,
    share,
)
from loganalyst.report.diagnosis.schema import change
from loganalyst.report.verification.screen import SCHEMA_ID

__all__ = ["schema"]


def schema() -> Json:
    """The schema of the one object that `verify` prints."""
    cause = object_(id=TEXT, label=TEXT, issue=TEXT, confidence=SHARE, onset_step=or_null(INTEGER))
    lesson = object_of(Lesson, before=SHARE, after=SHARE)
    body = object_(
        (*SETTINGS, "quoted"),  # younger than the schema
        schema={"const": SCHEMA_ID},
        outcome=one_of(VerifyOutcome),
        old=_run(),
        new=_run(),
        checks=listed(_check(), "One entry for each cause of the old run, the likeliest first."),
        new_causes=listed(cause, "Likely causes in the new run that the old run did not have."),
        changes=listed(change(), "From the old run to the new one, what matters most first."),
        lessons=listed(
            lesson, "Causes of the new run whose confidence fell because their fixes failed (with a store)."
        ),
        **SETTINGS,
        quoted=QUOTED,
    )
    what = "An old run compared with the one made after the fix; null means not known."
    return document(SCHEMA_ID, "Whether a fix helped", body, what)


def _run() -> Json:
    return object_(id=TEXT, path=TEXT, name=TEXT, status=one_of(Status), last_step=or_null(INTEGER))


def _check() -> Json:
    return object_of(
        CauseCheck,
        id="The rule; empty where no cause was found and only symptoms are checked.",
        confidence=share("In the old run."),
        expectations="What the cause's fixes promise, checked in the new run.",
        applied="Whether a setting that can fix the cause was changed.",
        changes=listed(change(), "The changes that can fix it."),
        against=listed(change(), "Changes of the same kind in the other direction."),
        symptoms="The old run's symptoms, and whether they are gone.",
        missing="What would have to be logged, or run, to find out.",
    )
