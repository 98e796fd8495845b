"""The JSON Schema of `replay --format json`."""

from loganalyst.model import Experiment, Hypothesis, InspectionFinding, Measured, ReplayEnd, Status
from loganalyst.report.common.schemaparts import (
    BOOLEAN,
    INTEGER,
    NUMBER,
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
from loganalyst.report.replay.screen import SCHEMA_ID

__all__ = ["schema"]


def schema() -> Json:
    """The schema of the one object that `replay` prints."""
    body = object_(
        tuple(SETTINGS),  # younger than the schema
        schema={"const": SCHEMA_ID},
        run=object_(id=TEXT, path=TEXT, name=TEXT),
        verdict=TEXT,
        ended=one_of(ReplayEnd),
        why={**TEXT, "description": "Why it ended, in words."},
        entry=or_null(TEXT),
        checkpoint=or_null(TEXT, "null: the replay began where the training began."),
        step=or_null(INTEGER, "Steps done at the checkpoint."),
        onset=or_null(INTEGER, "The step at which the logs show the fault."),
        device=or_null(TEXT),
        seconds=NUMBER,
        notes=listed(TEXT, "What was done differently than asked, and what did not fit."),
        hypotheses=listed(_hypothesis(), "In their new order."),
        experiments=listed(_experiment(), "In the order they were made."),
        before=_diagnosis(),
        after=_diagnosis(),
        learned=listed(TEXT),
        next_steps=listed(TEXT),
        findings=listed(object_of(InspectionFinding), "What the checkpoints show by themselves, the worst first."),
        **SETTINGS,
    )
    return document(SCHEMA_ID, "What a replay from a checkpoint found", body)


def _hypothesis() -> Json:
    return object_of(
        Hypothesis,
        before=share("Confidence from the logs alone."),
        after=SHARE,
        under="The likelier cause that this one is a consequence of.",
        experiments="The experiments that say something about it.",
    )


def _experiment() -> Json:
    run = object_of(
        Measured, series="Losses, one value a step.", start="The training's step of the first loss, counted from 0."
    )
    return object_of(
        Experiment,
        means="What each outcome would mean, stated before the experiment.",
        outcome="One of the outcomes in `means`, or inconclusive.",
        runs=listed(run, "One for each seed."),
        weights="Log-likelihood ratios of the outcome, by cause: above 0 it confirms, below 0 it refutes.",
        reproduced=or_null(BOOLEAN),
    )


def _diagnosis() -> Json:
    cause = object_(id=TEXT, label=TEXT, issue=TEXT, confidence=SHARE, band=TEXT)
    return object_(status=one_of(Status), confidence=SHARE, root_causes=listed(cause))
