"""The JSON Schema of `verify --format json`."""

from loganalyst.model import CauseCheck, Status, VerifyOutcome
from loganalyst.report.diagnosis.schema import (
    CHANGE,
    INTEGER,
    QUOTED,
    SETTINGS,
    SHARE,
    TEXT,
    Json,
    listed,
    object_,
    one_of,
    or_null,
    settings,
)
from loganalyst.report.verification.screen import SCHEMA_ID

__all__ = ["schema"]


def schema() -> Json:
    """The schema of the one object that `verify` prints."""
    cause = object_(id=TEXT, label=TEXT, issue=TEXT, confidence=SHARE, onset_step=or_null(INTEGER))
    lesson = object_(cause=TEXT, issue=TEXT, fixes=listed(TEXT), before=SHARE, after=SHARE, text=TEXT)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Whether a fix helped",
        "description": "An old run against the one made after the fix; null means not known.",
        **object_(
            (*SETTINGS, "quoted"),  # younger than the schema
            schema={"const": SCHEMA_ID},
            outcome=one_of(VerifyOutcome),
            old=_run(),
            new=_run(),
            checks=listed(_check(), "One entry a cause of the old run, the likeliest first."),
            new_causes=listed(cause, "Likely in the new run and none of the old one's."),
            changes=listed(object_((), **CHANGE), "From the old run to the new one, what matters most first."),
            lessons=listed(lesson, "Causes of the new run lowered because their fixes failed (with a store)."),
            **settings(),
            quoted=QUOTED,
        ),
    }


def _run() -> Json:
    return object_(id=TEXT, path=TEXT, name=TEXT, status=one_of(Status), last_step=or_null(INTEGER))


def _check() -> Json:
    known: Json = or_null({"type": "boolean"})
    promise = object_(change=TEXT, ask=TEXT, holds=known, missing=listed(TEXT))
    symptom = object_(id=TEXT, title=TEXT, gone=known)
    change = object_((), **CHANGE)
    return object_(
        id={**TEXT, "description": "The rule; empty where no cause was found, and symptoms alone are looked for."},
        label=TEXT,
        issue=TEXT,
        confidence={**SHARE, "description": "In the old run."},
        outcome=one_of(CauseCheck.__annotations__["outcome"]),
        why=TEXT,
        expectations=listed(promise, "What the cause's fixes promise, asked of the new run."),
        applied={**known, "description": "Whether a setting was changed that can mend it."},
        changes=listed(change, "Those changes."),
        against=listed(change, "Changes of the same kind that cannot."),
        symptoms=listed(symptom, "The old run's, and whether they are gone."),
        missing=listed(TEXT, "What would have to be logged, or run, to tell."),
    )
