"""The JSON Schema of `replay --format json`."""

from loganalyst.model import Hypothesis, InspectionFinding, InspectionKind, ReplayEnd, Status
from loganalyst.report.diagnosis.schema import (
    INTEGER,
    NUMBER,
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
from loganalyst.report.replay.screen import SCHEMA_ID

__all__ = ["schema"]


def schema() -> Json:
    """The schema of the one object that `replay` prints."""
    finding = object_(
        kind=one_of(InspectionKind),
        severity=one_of(InspectionFinding.__annotations__["severity"]),
        path=TEXT,
        text=TEXT,
        tensors=listed(TEXT),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "What a replay from a checkpoint found",
        "description": 'Non-finite numbers are the text "NaN", "Infinity" or "-Infinity"; null means not known.',
        **object_(
            SETTINGS,  # younger than the schema
            schema={"const": SCHEMA_ID},
            run=object_(id=TEXT, path=TEXT, name=TEXT),
            verdict=TEXT,
            ended=one_of(ReplayEnd),
            why={**TEXT, "description": "Why it ended, in words."},
            entry=or_null(TEXT),
            checkpoint={**or_null(TEXT), "description": "null: the training's own start."},
            step={**or_null(INTEGER), "description": "Steps done at the checkpoint."},
            onset={**or_null(INTEGER), "description": "Where the logs show the fault."},
            device=or_null(TEXT),
            seconds=NUMBER,
            notes=listed(TEXT, "What was done otherwise than asked, and what did not fit."),
            hypotheses=listed(_hypothesis(), "In their new order."),
            experiments=listed(_experiment(), "In the order they were made."),
            before=_diagnosis(),
            after=_diagnosis(),
            learned=listed(TEXT),
            next_steps=listed(TEXT),
            findings=listed(finding, "What the checkpoints show by themselves, the worst first."),
            **settings(),
        ),
    }


def _hypothesis() -> Json:
    return object_(
        id=TEXT,
        label=TEXT,
        issue=TEXT,
        before={**SHARE, "description": "Confidence by the logs alone."},
        after=SHARE,
        band=one_of(Hypothesis.__annotations__["band"]),
        verdict={"enum": ["confirmed", "refuted", "open"]},
        under={**or_null(TEXT), "description": "The likelier cause whose consequence it is."},
        experiments=listed(TEXT, "Those that say something of it."),
    )


def _experiment() -> Json:
    value = {"anyOf": [NUMBER, TEXT, {"type": "null"}]}
    run = object_(
        outcome=TEXT,
        text=TEXT,
        reproduced=or_null({"type": "boolean"}),
        values={"type": "object", "additionalProperties": value},
        series={"type": "object", "additionalProperties": listed(NUMBER), "description": "Losses, one a step."},
        start={**INTEGER, "description": "The training's step of the first loss, from 0."},
    )
    return object_(
        name=TEXT,
        question=TEXT,
        means={"type": "object", "additionalProperties": TEXT, "description": "What each outcome says, stated before."},
        outcome={**TEXT, "description": "One of those, or inconclusive."},
        text=TEXT,
        runs=listed(run, "One a seed."),
        weights={
            "type": "object",
            "additionalProperties": NUMBER,
            "description": "Log-likelihood ratios of the outcome, by cause: above 0 it confirms, below 0 it refutes.",
        },
        reproduced=or_null({"type": "boolean"}),
    )


def _diagnosis() -> Json:
    cause = object_(id=TEXT, label=TEXT, issue=TEXT, confidence=SHARE, band=TEXT)
    return object_(status=one_of(Status), confidence=SHARE, root_causes=listed(cause))
