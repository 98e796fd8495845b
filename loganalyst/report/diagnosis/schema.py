"""The JSON Schema of `diagnose --format json`, built from small parts. Every object and list has its fields here."""

from typing import Any, get_args

from loganalyst.model import Cause, Change, Decider, Direction, Evidence, RunStatus, Status, Suspect, Told, Way
from loganalyst.report.diagnosis.asjson import SCHEMA_ID

__all__ = ["schema"]

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
TIME: Json = {"type": "string", "format": "date-time"}
SHARE: Json = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER: Json = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
LEFT_OUT: Json = {
    "type": "object",
    "description": "Of a shortened object (`loganalyst mcp`): how many entries its lists lost, by their place in it.",
    "additionalProperties": INTEGER,
}


SETTINGS = ("settings_obeyed", "settings_ignored")
ORIGIN: Json = {
    "type": "string",
    "description": "`ours`: it rests on our catalogue alone; else the file of the rule or pattern that is not ours.",
}
QUOTED: Json = {
    "type": "object",
    "description": "Of an answer to an agent (`loganalyst mcp`): which fields hold words of a run's logs and files.",
    "properties": {"note": TEXT, "fields": {"type": "array", "items": TEXT}},
}


def settings() -> dict[str, Json]:
    """Whose settings had a say."""
    return {
        "settings_obeyed": listed(
            object_(("runs",), file=TEXT, what=TEXT, runs=INTEGER),
            "Each loganalyst.yaml and folder of rules that is obeyed, and what it says, counted.",
        ),
        "settings_ignored": listed(
            object_(("runs",), file=TEXT, why=TEXT, runs=INTEGER),
            "Each loganalyst.yaml that is not obeyed, for it came with a run.",
        ),
    }


def schema() -> Json:
    """The schema of one object: what `diagnose` prints for one run (a list of these for several)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "A diagnosis of one training run",
        "description": 'Non-finite numbers are the text "NaN", "Infinity" or "-Infinity"; null means not known.',
        **object_(
            ("notes", "decide", "rivals", "baseline", "left_out", *SETTINGS, "quoted"),  # younger than the schema
            schema={"const": SCHEMA_ID},
            status=one_of(Status),
            confidence=SHARE,
            run=_run(),
            sessions=_sessions(),
            symptoms=listed(object_(id=TEXT, metric=or_null(TEXT), step=or_null(INTEGER), text=TEXT)),
            root_causes=listed(
                _cause(),
                "Likely and possible causes: what ended a run that failed, then the likeliest first; none if healthy.",
                5,
            ),
            ruled_out=listed(
                object_(
                    optional=("label", "confidence"),  # younger than the schema
                    id=TEXT,
                    label=TEXT,
                    confidence={**SHARE, "description": "What is left for it, where it would fit what was seen."},
                    why=TEXT,
                ),
                "Causes that were considered and are neither likely nor possible, the likeliest first.",
            ),
            timeline=_timeline(),
            quick_fixes=listed(
                object_(
                    optional=("severity", "impact", "confidence"),  # younger than the schema
                    cause=TEXT,
                    change=TEXT,
                    expected_impact=TEXT,
                    severity=TEXT,
                    impact={**SHARE, "description": "Severity times the share of the symptoms the cause explains."},
                    confidence={**SHARE, "description": "That of the cause."},
                ),
                "The first change of each cause, by impact times confidence, behind those of what ended the run.",
            ),
            notes=listed(
                object_(("origin",), id=TEXT, title=TEXT, text=TEXT, change=TEXT, origin=ORIGIN),
                "What is worth knowing and is no fault, such as time asked for and not used.",
            ),
            decide=_decide(),
            rivals=listed(
                object_(id=TEXT, title=TEXT, label=TEXT, confidence=SHARE, why=TEXT, decide=_decide()),
                'Where "healthy" is doubted: causes that would look just so, with what is left for each of them.',
                3,
            ),
            baseline=or_null(_baseline()),
            summary=_summary(),
            gaps=listed(
                object_(file=TEXT, offset=or_null(INTEGER), bytes=or_null(INTEGER), why=TEXT),
                "What a reader could not use.",
            ),
            **settings(),
            analysis_artifacts=_artifacts(),
            left_out=LEFT_OUT,
            quoted=QUOTED,
        ),
    }


def object_(optional: tuple[str, ...] = (), **fields: Json) -> Json:
    """An object with these fields, required unless named `optional`."""
    return {"type": "object", "properties": fields, "required": [f for f in fields if f not in optional]}


def listed(item: Json, description: str = "", most: int | None = None) -> Json:
    described = {"description": description} if description else {}
    return {"type": "array", "items": item, **described, **({"maxItems": most} if most is not None else {})}


def one_of(literal: Any) -> Json:
    return {"enum": list(get_args(literal))}


def or_null(kind: Json) -> Json:
    return {"anyOf": [kind, {"type": "null"}]}


def _decide() -> Json:
    return listed(
        object_(kind=one_of(Decider.__annotations__["kind"]), what=TEXT, separates=listed(TEXT), check=TEXT),
        "Where it is not sure (below 0.70): what to log, or what to change and then to check, and the causes this "
        "tells apart (of a healthy run: the symptoms).",
    )


CHANGE: dict[str, Json] = {
    "key": {"type": "string", "description": "The setting's dotted key, or the metric that shows it."},
    "kind": {"type": "string", "description": "A kind of rules/changes.yaml."},
    "section": one_of(Change.__annotations__["section"]),
    "before": {**or_null(TEXT), "description": "As logged; null: not set."},
    "after": or_null(TEXT),
    "way": {**or_null(one_of(Way)), "description": "null: no numbers"},
}


def _baseline() -> Json:
    run = object_(id=TEXT, path=TEXT, name=TEXT, status=one_of(Status))
    parted = object_(
        metric=TEXT,
        role=TEXT,
        step=INTEGER,
        direction=one_of(Direction),
        effect={**NUMBER, "description": "Distance in standard errors."},
        final_step={**or_null(INTEGER), "description": "From here on apart to the end; null: together again then."},
        final_direction=or_null(one_of(Direction)),
        ours={**NUMBER, "description": "Level at the end."},
        theirs=NUMBER,
        equal_until={**or_null(INTEGER), "description": "The last step up to which all values are the same."},
    )
    why = {"basis": one_of(Suspect.__annotations__["basis"]), "why": TEXT}
    return object_(
        run=run,
        suspect=or_null(object_(optional=(), **CHANGE, **why)),
        unknown={**or_null(TEXT), "description": "Why there is no suspect."},
        changes=listed(object_(optional=(), **CHANGE), "From the baseline to the run, what matters most first."),
        parted=listed(parted, "Metrics of both that part beyond their noise, those that turn for the worse first."),
        together=listed(TEXT, "Metrics that stay within noise of one another."),
        not_logged=listed(TEXT, "Which of the two logged no settings."),
    )


def _sessions() -> Json:
    session = object_(
        optional=("job", "file", "line", "rank", "node"),  # younger than the schema
        index=INTEGER,
        first_line=or_null(INTEGER),
        last_line=or_null(INTEGER),
        status=TEXT,
        label=or_null(TEXT),
        job=or_null(TEXT),
        file=or_null(TEXT),
        line=or_null(INTEGER),
        rank=or_null(INTEGER),
        node=or_null(TEXT),
    )
    return listed(session, "Starts of the program, in time order; lines count from 1.")


def _timeline() -> Json:
    event = object_(
        optional=("low", "high", "after", "lag", "confidence"),  # younger than the schema
        step=or_null(INTEGER),
        time=or_null(TIME),
        metric=or_null(TEXT),
        kind=TEXT,
        text=TEXT,
        low=or_null(NUMBER),
        high=or_null(NUMBER),
        after=or_null(TEXT),
        lag=or_null(INTEGER),
        confidence=or_null(SHARE),
    )
    return listed(
        event,
        "What happened, in order. A metric that left its usual course did so between the steps low and high, "
        "lag steps after the metric named in after; confidence is the probability of this order.",
    )


def _run() -> Json:
    coverage = object_(
        optional=("full", "screened", "skipped"),
        full={**INTEGER, "description": "Curves that every signal looked at."},
        screened={**INTEGER, "description": "Curves that only the quick screen looked at."},
        skipped={**INTEGER, "description": "Curves whose shape is not judged."},
        not_judged=listed(
            object_(id=TEXT, why=TEXT), "Causes that the logs do not let one judge, and what is missing."
        ),
    )
    return object_(
        optional=("suggested",),  # younger than the schema
        id=TEXT,
        path=TEXT,
        name=TEXT,
        status=one_of(RunStatus),
        framework=or_null(TEXT),
        host=or_null(TEXT),
        started=or_null(TIME),
        ended=or_null(TIME),
        sources=listed(object_(path=TEXT, format=or_null(TEXT), bytes=INTEGER, points=INTEGER, lines=INTEGER)),
        joined=listed(TEXT, "How places were found to belong to this run."),
        suggested=listed(TEXT, "Job logs that may belong to this run and were not read."),
        metrics={**INTEGER, "description": "Number of metrics."},
        points={**INTEGER, "description": "Number of logged values."},
        coverage=coverage,
    )


def _cause() -> Json:
    evidence = object_(
        id=TEXT,
        kind=one_of(Evidence.__annotations__["kind"]),
        holds={"type": ["boolean", "null"], "description": "null: not known"},
        text=TEXT,
        metric=or_null(TEXT),
        step=or_null(INTEGER),
        file=or_null(TEXT),
        line=or_null(INTEGER),
    )
    block = object_(
        kind=TEXT,
        exception=or_null(TEXT),
        message=or_null(TEXT),
        frame=or_null(TEXT),
        first_line=INTEGER,
        last_line=INTEGER,
        ranks=or_null(listed(INTEGER)),
        repeated=INTEGER,
    )
    return object_(
        optional=("block", "decide", "ended_run", "family", "origin"),  # younger than the schema
        id={**TEXT, "description": "The rule."},
        label={**TEXT, "description": "The common label, shared by rules for one kind of failure."},
        issue=TEXT,
        severity=TEXT,
        family={**TEXT, "description": "What it is about: the family of the rule."},
        confidence=SHARE,
        band=one_of(Cause.__annotations__["band"]),
        onset_step=or_null(INTEGER),
        file=or_null(TEXT),
        line={**or_null(INTEGER), "description": "The root-cause line, from 1."},
        rank=or_null(INTEGER),
        node=or_null(TEXT),
        block={**or_null(block), "description": "The traceback or stack at that line, and all ranks that printed it."},
        evidence=listed(evidence),
        mechanism=TEXT,
        fix=listed(
            object_(
                optional=("places",),  # younger than the schema
                change=TEXT,
                expected_impact=TEXT,
                verify=TEXT,
                if_not=TEXT,
                places=listed(
                    object_(file=TEXT, line=INTEGER, key=TEXT, value=TEXT),
                    "Where what it changes is written, as far as a context file named config and code.",
                ),
            )
        ),
        will_not_fix=TEXT,
        consequences=listed(TEXT, "What follows from this cause and is none itself."),
        ended_run={"type": "boolean", "description": "The run failed, and by its logs of this."},
        missing=listed(TEXT, "What was not logged and would answer what is open of it."),
        decide=_decide(),
        origin=ORIGIN,
    )


def _summary() -> Json:
    metric = object_(
        metric=TEXT,
        role=TEXT,
        points=INTEGER,
        first=NUMBER,
        last=NUMBER,
        last_step=INTEGER,
        best=NUMBER,
        best_step=INTEGER,
    )
    fields = {
        "last_step": or_null(INTEGER),
        "epochs": or_null(NUMBER),
        "duration_s": or_null(NUMBER),
        "metrics": listed(metric, "First, last and best values of the headline metrics."),
        "steps_per_second": {**or_null(NUMBER), "description": "Of the longest curve, from its times."},
        "checkpoints": INTEGER,
        "checkpoint": or_null(_checkpoint()),
        "recommendation": or_null(
            object_(
                kind={**TEXT, "description": "resume, stop_earlier, regularise, train_longer or ready"},
                title=TEXT,
                why=TEXT,
                change=TEXT,
            ),
        ),
        "not_logged": {
            "type": "object",
            "description": "Roles without a metric, and what that costs.",
            "additionalProperties": TEXT,
        },
        "told_symptoms": listed(
            _told(), "Each --symptom: seen in the logs, not there (false), or not to be seen (null)."
        ),
        "faults": listed(TEXT, "Faults in rules and corrections of the user's own, which were left out."),
        "why": {**TEXT, "description": "Why nothing could be read (status unreadable)."},
    }
    return object_(optional=tuple(fields), **fields)


def _told() -> Json:
    judged_by = object_(
        feature=TEXT,
        value={"anyOf": [NUMBER, {"type": ["boolean", "string"]}]},
        metric=or_null(TEXT),
        step=or_null(INTEGER),
        file=or_null(TEXT),
        line=or_null(INTEGER),
    )
    return object_(
        optional=("verdict", "evidence"),  # younger than the schema
        text=TEXT,
        verdict=one_of(Told.__annotations__["verdict"]),
        seen=or_null({"type": "boolean"}),
        answer=TEXT,
        symptoms=listed(TEXT),
        evidence=listed(judged_by, "The values it was judged by."),
    )


def _checkpoint() -> Json:
    return object_(
        last_step=or_null(INTEGER),
        best_metric=or_null(TEXT),
        best_step=or_null(INTEGER),
        nearest_step=or_null(INTEGER),
        nearest=or_null(TEXT),
        named_best=or_null(TEXT),
        unreadable=listed(TEXT),
    )


def _artifacts() -> Json:
    finding = object_(
        session=or_null(INTEGER),
        metric=TEXT,
        role=TEXT,
        kind=TEXT,
        index=or_null(INTEGER),
        step=or_null(INTEGER),
        end_step=or_null(INTEGER),
        effect=or_null(NUMBER),
        significance=or_null(NUMBER),
        file=or_null(TEXT),
        line=or_null(INTEGER),
    )
    return object_(
        optional=("files",),  # younger than the schema
        files=listed(TEXT, "Files that were written: the report itself, where -o names one."),
        metrics=listed(object_(name=TEXT, role=TEXT, why=TEXT, points=INTEGER, nonfinite=INTEGER)),
        findings=listed(finding, "Changes in the curves, the most significant first."),
        findings_total=INTEGER,
        features={
            "type": "object",
            "description": "Every feature that is known, by name; meanings: loganalyst show RUN --features.",
            "additionalProperties": {"anyOf": [NUMBER, {"type": ["boolean", "string"]}]},
        },
        ignored_findings=listed(TEXT, "Causes that loganalyst.yaml accepts."),
    )
