"""The JSON Schema of `diagnose --format json`, built from small parts. Every object and list has its fields here."""

from typing import Any, get_args

from loganalyst.model import Cause, Change, Decider, Direction, Evidence, RunStatus, Status, Suspect, Told, Way
from loganalyst.report.json import SCHEMA_ID

__all__ = ["schema"]

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
TIME: Json = {"type": "string", "format": "date-time"}
SHARE: Json = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER: Json = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}


def schema() -> Json:
    """The schema of one object: what `diagnose` prints for one run (a list of these for several)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "A diagnosis of one training run",
        "description": 'Non-finite numbers are the text "NaN", "Infinity" or "-Infinity"; null means not known.',
        **_object(
            optional=("notes", "decide", "baseline"),  # younger than the schema
            schema={"const": SCHEMA_ID},
            status=_one_of(Status),
            confidence=SHARE,
            run=_run(),
            sessions=_sessions(),
            symptoms=_list(_object(id=TEXT, metric=_or_null(TEXT), step=_or_null(INTEGER), text=TEXT)),
            root_causes=_list(_cause(), "Likely and possible causes, the likeliest first; empty for a healthy run.", 5),
            ruled_out=_list(_object(id=TEXT, why=TEXT), "Causes that were considered and are not likely."),
            timeline=_timeline(),
            quick_fixes=_list(
                _object(
                    optional=("severity", "impact", "confidence"),  # younger than the schema
                    cause=TEXT,
                    change=TEXT,
                    expected_impact=TEXT,
                    severity=TEXT,
                    impact={**SHARE, "description": "Severity times the share of the symptoms the cause explains."},
                    confidence={**SHARE, "description": "That of the cause."},
                ),
                "The first change of each cause, by impact times confidence.",
            ),
            notes=_list(
                _object(id=TEXT, title=TEXT, text=TEXT, change=TEXT),
                "What is worth knowing and is no fault, such as time asked for and not used.",
            ),
            decide=_decide(),
            baseline=_or_null(_baseline()),
            summary=_summary(),
            gaps=_list(
                _object(file=TEXT, offset=_or_null(INTEGER), bytes=_or_null(INTEGER), why=TEXT),
                "What a reader could not use.",
            ),
            analysis_artifacts=_artifacts(),
        ),
    }


def _object(optional: tuple[str, ...] = (), **fields: Json) -> Json:
    """An object with these fields, required unless named `optional`."""
    return {"type": "object", "properties": fields, "required": [f for f in fields if f not in optional]}


def _list(item: Json, description: str = "", most: int | None = None) -> Json:
    described = {"description": description} if description else {}
    return {"type": "array", "items": item, **described, **({"maxItems": most} if most is not None else {})}


def _one_of(literal: Any) -> Json:
    return {"enum": list(get_args(literal))}


def _or_null(kind: Json) -> Json:
    return {"anyOf": [kind, {"type": "null"}]}


def _decide() -> Json:
    return _list(
        _object(kind=_one_of(Decider.__annotations__["kind"]), what=TEXT, separates=_list(TEXT), check=TEXT),
        "Where it is not sure (below 0.70): what to log, or what to change and then to check, and the causes this "
        "tells apart (of a healthy run: the symptoms).",
    )


CHANGE: dict[str, Json] = {
    "key": {"type": "string", "description": "The setting's dotted key, or the metric that shows it."},
    "kind": {"type": "string", "description": "A kind of rules/changes.yaml."},
    "section": _one_of(Change.__annotations__["section"]),
    "before": {**_or_null(TEXT), "description": "As logged; null: not set."},
    "after": _or_null(TEXT),
    "way": {**_or_null(_one_of(Way)), "description": "null: no numbers"},
}


def _baseline() -> Json:
    run = _object(id=TEXT, path=TEXT, name=TEXT, status=_one_of(Status))
    parted = _object(
        metric=TEXT,
        role=TEXT,
        step=INTEGER,
        direction=_one_of(Direction),
        effect={**NUMBER, "description": "Distance in standard errors."},
        final_step={**_or_null(INTEGER), "description": "From here on apart to the end; null: together again then."},
        final_direction=_or_null(_one_of(Direction)),
        ours={**NUMBER, "description": "Level at the end."},
        theirs=NUMBER,
        equal_until={**_or_null(INTEGER), "description": "The last step up to which all values are the same."},
    )
    why = {"basis": _one_of(Suspect.__annotations__["basis"]), "why": TEXT}
    return _object(
        run=run,
        suspect=_or_null(_object(optional=(), **CHANGE, **why)),
        unknown={**_or_null(TEXT), "description": "Why there is no suspect."},
        changes=_list(_object(optional=(), **CHANGE), "From the baseline to the run, what matters most first."),
        parted=_list(parted, "Metrics of both that part beyond their noise, those that turn for the worse first."),
        together=_list(TEXT, "Metrics that stay within noise of one another."),
        not_logged=_list(TEXT, "Which of the two logged no settings."),
    )


def _sessions() -> Json:
    session = _object(
        optional=("job", "file", "line", "rank", "node"),  # younger than the schema
        index=INTEGER,
        first_line=_or_null(INTEGER),
        last_line=_or_null(INTEGER),
        status=TEXT,
        label=_or_null(TEXT),
        job=_or_null(TEXT),
        file=_or_null(TEXT),
        line=_or_null(INTEGER),
        rank=_or_null(INTEGER),
        node=_or_null(TEXT),
    )
    return _list(session, "Starts of the program, in time order; lines count from 1.")


def _timeline() -> Json:
    event = _object(
        optional=("low", "high", "after", "lag", "confidence"),  # younger than the schema
        step=_or_null(INTEGER),
        time=_or_null(TIME),
        metric=_or_null(TEXT),
        kind=TEXT,
        text=TEXT,
        low=_or_null(NUMBER),
        high=_or_null(NUMBER),
        after=_or_null(TEXT),
        lag=_or_null(INTEGER),
        confidence=_or_null(SHARE),
    )
    return _list(
        event,
        "What happened, in order. A metric that left its usual course did so between the steps low and high, "
        "lag steps after the metric named in after; confidence is the probability of this order.",
    )


def _run() -> Json:
    coverage = _object(
        optional=("full", "screened", "skipped"),
        full={**INTEGER, "description": "Curves that every signal looked at."},
        screened={**INTEGER, "description": "Curves that only the quick screen looked at."},
        skipped={**INTEGER, "description": "Curves whose shape is not judged."},
        not_judged=_list(_object(id=TEXT, why=TEXT), "Causes that the logs do not let one judge, and what is missing."),
    )
    return _object(
        optional=("suggested",),  # younger than the schema
        id=TEXT,
        path=TEXT,
        name=TEXT,
        status=_one_of(RunStatus),
        framework=_or_null(TEXT),
        host=_or_null(TEXT),
        started=_or_null(TIME),
        ended=_or_null(TIME),
        sources=_list(_object(path=TEXT, format=_or_null(TEXT), bytes=INTEGER, points=INTEGER, lines=INTEGER)),
        joined=_list(TEXT, "How places were found to belong to this run."),
        suggested=_list(TEXT, "Job logs that may belong to this run and were not read."),
        metrics={**INTEGER, "description": "Number of metrics."},
        points={**INTEGER, "description": "Number of logged values."},
        coverage=coverage,
    )


def _cause() -> Json:
    evidence = _object(
        id=TEXT,
        kind=_one_of(Evidence.__annotations__["kind"]),
        holds={"type": ["boolean", "null"], "description": "null: not known"},
        text=TEXT,
        metric=_or_null(TEXT),
        step=_or_null(INTEGER),
        file=_or_null(TEXT),
        line=_or_null(INTEGER),
    )
    block = _object(
        kind=TEXT,
        exception=_or_null(TEXT),
        message=_or_null(TEXT),
        frame=_or_null(TEXT),
        first_line=INTEGER,
        last_line=INTEGER,
        ranks=_or_null(_list(INTEGER)),
        repeated=INTEGER,
    )
    return _object(
        optional=("block", "decide"),  # younger than the schema
        id={**TEXT, "description": "The rule."},
        label={**TEXT, "description": "The common label, shared by rules for one kind of failure."},
        issue=TEXT,
        severity=TEXT,
        confidence=SHARE,
        band=_one_of(Cause.__annotations__["band"]),
        onset_step=_or_null(INTEGER),
        file=_or_null(TEXT),
        line={**_or_null(INTEGER), "description": "The root-cause line, from 1."},
        rank=_or_null(INTEGER),
        node=_or_null(TEXT),
        block={**_or_null(block), "description": "The traceback or stack at that line, and all ranks that printed it."},
        evidence=_list(evidence),
        mechanism=TEXT,
        fix=_list(_object(change=TEXT, expected_impact=TEXT, verify=TEXT, if_not=TEXT)),
        will_not_fix=TEXT,
        consequences=_list(TEXT, "What follows from this cause and is none itself."),
        missing=_list(TEXT, "What was not logged and would answer what is open of it."),
        decide=_decide(),
    )


def _summary() -> Json:
    metric = _object(
        metric=TEXT,
        role=TEXT,
        points=INTEGER,
        first=NUMBER,
        last=NUMBER,
        last_step=INTEGER,
        best=NUMBER,
        best_step=INTEGER,
    )
    judged_by = _object(
        feature=TEXT,
        value={"anyOf": [NUMBER, {"type": ["boolean", "string"]}]},
        metric=_or_null(TEXT),
        step=_or_null(INTEGER),
        file=_or_null(TEXT),
        line=_or_null(INTEGER),
    )
    told = _object(
        optional=("verdict", "evidence"),  # younger than the schema
        text=TEXT,
        verdict=_one_of(Told.__annotations__["verdict"]),
        seen=_or_null({"type": "boolean"}),
        answer=TEXT,
        symptoms=_list(TEXT),
        evidence=_list(judged_by, "The values it was judged by."),
    )
    fields = {
        "last_step": _or_null(INTEGER),
        "epochs": _or_null(NUMBER),
        "duration_s": _or_null(NUMBER),
        "metrics": _list(metric, "First, last and best values of the headline metrics."),
        "checkpoints": INTEGER,
        "not_logged": {
            "type": "object",
            "description": "Roles without a metric, and what that costs.",
            "additionalProperties": TEXT,
        },
        "told_symptoms": _list(told, "Each --symptom: seen in the logs, not there (false), or not to be seen (null)."),
        "faults": _list(TEXT, "Faults in rules and corrections of the user's own, which were left out."),
        "why": {**TEXT, "description": "Why nothing could be read (status unreadable)."},
    }
    return _object(optional=tuple(fields), **fields)


def _artifacts() -> Json:
    finding = _object(
        session=_or_null(INTEGER),
        metric=TEXT,
        role=TEXT,
        kind=TEXT,
        index=_or_null(INTEGER),
        step=_or_null(INTEGER),
        end_step=_or_null(INTEGER),
        effect=_or_null(NUMBER),
        significance=_or_null(NUMBER),
        file=_or_null(TEXT),
        line=_or_null(INTEGER),
    )
    return _object(
        metrics=_list(_object(name=TEXT, role=TEXT, why=TEXT, points=INTEGER, nonfinite=INTEGER)),
        findings=_list(finding, "Changes in the curves, the most significant first."),
        findings_total=INTEGER,
        features={
            "type": "object",
            "description": "Every feature that is known, by name; meanings: loganalyst show RUN --features.",
            "additionalProperties": {"anyOf": [NUMBER, {"type": ["boolean", "string"]}]},
        },
        ignored_findings=_list(TEXT, "Causes that loganalyst.yaml accepts."),
    )
