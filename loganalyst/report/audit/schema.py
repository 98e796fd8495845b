"""The JSON Schema of `audit --format json`."""

from typing import Literal

from loganalyst.model import RunStatus, Status, Verdict
from loganalyst.report.audit.screen import SCHEMA_ID
from loganalyst.report.diagnosis.schema import (
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
    listed,
    object_,
    one_of,
    or_null,
    settings,
)

__all__ = ["contrast", "group", "schema"]

MAYBE = or_null(TEXT)


def schema() -> Json:
    """The schema of the one object that `audit` prints."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "What went wrong in many runs",
        "description": 'Non-finite numbers are the text "NaN", "Infinity" or "-Infinity"; null means not known.',
        **object_(
            optional=("counts", "left_out", "accounts", "copies", *SETTINGS, "quoted"),  # younger than the schema
            schema={"const": SCHEMA_ID},
            counts={
                "type": "object",
                "description": "Runs by their status.",
                "propertyNames": one_of(Status),
                "additionalProperties": INTEGER,
            },
            left_out=LEFT_OUT,
            quoted=QUOTED,
            **settings(),
            runs=listed(_run(), "One entry a run, the worst first."),
            groups=listed(group(), "Runs with the same cause and message, the largest group first."),
            contrasts=listed(contrast(), "What failed runs have and healthy ones have not, the surest first."),
            accounts=listed(_account(), "The scheduler's jobs by node, user, partition and reason of failing."),
            copies=listed(object_(path=TEXT, original=TEXT), "Runs left out: each is a copy of another file's run."),
        ),
    }


def _run() -> Json:
    return object_(
        ("report", "origin", "accepted", "settings_obeyed", "settings_ignored"),  # younger than the schema
        run_id=MAYBE,
        path=TEXT,
        name=TEXT,
        status=one_of(Status),
        ended_as={**or_null(one_of(RunStatus)), "description": "How the run itself ended."},
        **dict.fromkeys(("label", "cause", "issue", "severity"), MAYBE),
        verdict=or_null(one_of(Verdict)),
        confidence=or_null(SHARE),
        step=or_null(INTEGER),
        file=MAYBE,
        line=or_null(INTEGER),
        node=MAYBE,
        says={**MAYBE, "description": "The strongest thing that says so."},
        why={**MAYBE, "description": "Why nothing can be said of the run."},
        **dict.fromkeys(("host", "job", "framework"), MAYBE),
        started=or_null(TIME),
        ended=or_null(TIME),
        points=or_null(INTEGER),
        origin=or_null(ORIGIN),
        accepted=listed(TEXT, "Causes that settings accept: rule, reason, and the file that says so."),
        settings_obeyed=listed(TEXT, "`FILE: what`, as of a diagnosis."),
        settings_ignored=listed(TEXT, "Files that came with the run and are not obeyed."),
        report={**MAYBE, "description": "The path of its HTML report (--reports); null: none was due."},
    )


def group() -> Json:
    """A group of runs that failed alike."""
    return object_(
        (),
        **dict.fromkeys(("label", "cause", "issue", "severity"), TEXT),
        like={**MAYBE, "description": "The message they share, # and PATH for what differs; null: not from a text."},
        runs=INTEGER,
        confidence={**SHARE, "description": "The mean."},
        node={**MAYBE, "description": "The node most of them name."},
        on_node=or_null(INTEGER),
        settings=listed(TEXT, "`key = value` that they share and most other runs have not."),
        example={**TEXT, "description": "The path of the surest one."},
        members=listed(TEXT, "The ids of all."),
    )


def _account() -> Json:
    counts = dict.fromkeys(("jobs", "failed"), INTEGER)
    return object_(
        (),
        by=one_of(Literal["node", "user", "partition", "reason"]),
        value=TEXT,
        **counts,
        **dict.fromkeys(("other_jobs", "other_failed"), INTEGER),
        odds_ratio=or_null(NUMBER),
        q={**or_null(SHARE), "description": "As of a contrast; null for a reason, which only failed jobs have."},
        named={"type": "boolean", "description": "Whether it fails more than chance."},
        first={**or_null(TIME), "description": "When the first job that failed ended."},
        last=or_null(TIME),
        weeks=or_null(listed(object_((), week=TIME, **counts), "Week by week, from Monday.")),
    )


def contrast() -> Json:
    """What sets failed runs apart."""
    counts = dict.fromkeys(("runs", "failed", "other_runs", "other_failed"), INTEGER)
    return object_(
        (),
        key={**TEXT, "description": "A setting's dotted key, node, host or framework."},
        value={**TEXT, "description": "`> 0.01` for numbers."},
        **counts,
        odds_ratio=NUMBER,
        q={**SHARE, "description": "The chance that so strong a contrast is none, among all that were looked at."},
        also=listed(TEXT, "Other keys that part the runs in the same way."),
    )
