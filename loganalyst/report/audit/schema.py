"""The JSON Schema of `audit --format json`."""

from typing import Literal

from loganalyst.model import RestartVerdict, RunStatus, Status, Verdict
from loganalyst.report.audit.screen import SCHEMA_ID
from loganalyst.report.common.schemaparts import (
    BOOLEAN,
    INTEGER,
    LEFT_OUT,
    NUMBER,
    ORIGIN,
    QUOTED,
    SETTINGS,
    SHARE,
    TEXT,
    TIME,
    Json,
    document,
    listed,
    object_,
    one_of,
    or_null,
    share,
)

__all__ = ["contrast", "group", "schema"]


def schema() -> Json:
    """The schema of the one object that `audit` prints."""
    counts = {
        "type": "object",
        "description": "Number of runs by status.",
        "propertyNames": one_of(Status),
        "additionalProperties": INTEGER,
    }
    copy = object_(path=TEXT, original=TEXT)
    body = object_(
        ("counts", "left_out", "accounts", "copies", *SETTINGS, "quoted"),  # younger than the schema
        schema={"const": SCHEMA_ID},
        counts=counts,
        left_out=LEFT_OUT,
        quoted=QUOTED,
        **SETTINGS,
        runs=listed(_run(), "One entry for each run, the worst first."),
        groups=listed(group(), "Runs with the same cause and message, the largest group first."),
        contrasts=listed(contrast(), "What failed runs have and healthy runs do not, the surest first."),
        accounts=listed(_account(), "The scheduler's jobs by node, user, partition and reason of failure."),
        copies=listed(copy, "Runs left out because they are copies: the file of the copy, and of its original."),
    )
    return document(SCHEMA_ID, "What went wrong in many runs", body)


def _run() -> Json:
    maybe = or_null(TEXT)
    return object_(
        ("report", "origin", "restart", "accepted", "settings_obeyed", "settings_ignored"),  # younger than the schema
        run_id=maybe,
        path=TEXT,
        name=TEXT,
        status=one_of(Status),
        ended_as=or_null(one_of(RunStatus), "How the run itself ended."),
        **dict.fromkeys(("label", "cause", "issue", "severity"), maybe),
        verdict=or_null(one_of(Verdict)),
        confidence=or_null(SHARE),
        step=or_null(INTEGER),
        file=maybe,
        line=or_null(INTEGER),
        node=maybe,
        says=or_null(TEXT, "The strongest evidence for the cause."),
        why=or_null(TEXT, "Why there is no diagnosis."),
        restart=or_null(one_of(RestartVerdict), "Whether to start the run again; null: it was not broken off."),
        **dict.fromkeys(("host", "job", "framework"), maybe),
        started=or_null(TIME),
        ended=or_null(TIME),
        points=or_null(INTEGER),
        origin=or_null(ORIGIN),
        accepted=listed(TEXT, "Causes that the user's settings accept: rule, reason, and the settings file."),
        settings_obeyed=listed(TEXT, "`FILE: what`, as in a diagnosis."),
        settings_ignored=listed(TEXT, "Settings files that came with the run and are not obeyed."),
        report=or_null(TEXT, "The path of its HTML report (--reports); null: it got none."),
    )


def group() -> Json:
    """A group of runs that failed in the same way."""
    return object_(
        **dict.fromkeys(("label", "cause", "issue", "severity"), TEXT),
        like=or_null(TEXT, "The message they share, with # and PATH where it differs; null: no log line shows it."),
        runs=INTEGER,
        confidence=share("The mean."),
        node=or_null(TEXT, "The node that most of them name."),
        on_node=or_null(INTEGER),
        settings=listed(TEXT, "`key = value` of settings that they share and most other runs do not have."),
        example={**TEXT, "description": "The path of the run with the highest confidence."},
        members=listed(TEXT, "The ids of all its runs."),
    )


def _account() -> Json:
    counts = dict.fromkeys(("jobs", "failed"), INTEGER)
    return object_(
        by=one_of(Literal["node", "user", "partition", "reason"]),
        value=TEXT,
        **counts,
        **dict.fromkeys(("other_jobs", "other_failed"), INTEGER),
        odds_ratio=or_null(NUMBER),
        q=or_null(SHARE, "As in `contrasts`; null for a reason, because only failed jobs have one."),
        named={**BOOLEAN, "description": "Whether it fails more often than chance explains."},
        first=or_null(TIME, "When the first failed job ended."),
        last=or_null(TIME),
        weeks=or_null(listed(object_(week=TIME, **counts), "Week by week, from Monday.")),
    )


def contrast() -> Json:
    """A difference between failed and healthy runs."""
    return object_(
        key={**TEXT, "description": "A setting's dotted key, node, host or framework."},
        value={**TEXT, "description": "For numbers a limit: `> 0.01`."},
        **dict.fromkeys(("runs", "failed", "other_runs", "other_failed"), INTEGER),
        odds_ratio=NUMBER,
        q=share("The false discovery rate, over all contrasts that were tested."),
        also=listed(TEXT, "Other keys that split the runs in the same way."),
    )
