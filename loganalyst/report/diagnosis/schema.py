"""The JSON Schema of `diagnose --format json`."""

from typing import Literal, get_args

from loganalyst.model import (
    Alternative,
    Cause,
    Change,
    CodeTemplate,
    Decider,
    DecidingScript,
    Evidence,
    Fix,
    Metric,
    Note,
    Place,
    ProcessState,
    QuickFix,
    Restart,
    RestartVerdict,
    Rival,
    RunEnd,
    RunStatus,
    SessionSummary,
    Source,
    Status,
    Suspect,
    TimelineEvent,
    Told,
    TrainingKindName,
)
from loganalyst.model.baseline import Parted
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
    by_name,
    document,
    listed,
    object_,
    object_of,
    one_of,
    or_null,
    share,
)
from loganalyst.report.diagnosis.asjson import SCHEMA_ID

__all__ = ["change", "schema"]

VALUE: Json = {"anyOf": [NUMBER, {"type": ["boolean", "string"]}]}  # of a feature


def schema() -> Json:
    """The schema of one object: what `diagnose` prints for one run (a list of these for several)."""
    symptom = object_(
        ("expected", "origin"),  # younger than the schema
        id=TEXT,
        metric=or_null(TEXT),
        step=or_null(INTEGER),
        text=TEXT,
        origin=ORIGIN,
        expected={**TEXT, "description": "What a healthy run does in its place; empty: not stated."},
    )
    script = object_of(DecidingScript, command={**TEXT, "description": "Writes it."})
    gap = object_(file=TEXT, offset=or_null(INTEGER), bytes=or_null(INTEGER), why=TEXT)
    ruled_out = object_(
        ("label", "confidence"),  # younger than the schema; `confidence` is no longer written
        id=TEXT,
        label=TEXT,
        confidence=SHARE,
        why=TEXT,
    )
    quick_fix = object_of(
        QuickFix,
        optional=("severity", "impact", "confidence"),  # younger than the schema
        impact=share("Severity times the share of the symptoms that the cause explains."),
        confidence=share("Confidence of the cause."),
    )
    body = object_(
        (
            "notes",
            "decide",
            "rivals",
            "restart",
            "processes",
            "baseline",
            "left_out",
            *SETTINGS,
            "quoted",
            "alternatives",
            "not_supported",
            "not_checked",
            "verdict",
            "reproducible",
            "scripts",
            "setup",
        ),  # younger than the schema
        schema={"const": SCHEMA_ID},
        status=one_of(Status),
        confidence=SHARE,
        run=_run(),
        sessions=_sessions(),
        processes=_processes(),
        verdict=TEXT,
        setup=by_name(TEXT, "The setup in words."),
        symptoms=listed(symptom),
        reproducible=or_null(
            TEXT, "Whether the fault repeats, by the attempts that were read; null: the run did not fail."
        ),
        scripts=listed(script, "Scripts that would decide."),
        root_causes=listed(
            _cause(),
            "Likely and possible causes: what ended a failed run first, then by confidence. Empty if healthy.",
            5,
        ),
        alternatives=listed(
            object_of(Alternative, probability=SHARE),
            "Less likely causes that evidence supports, from 0.05 on; with the rivals of the same symptom at most 1.",
        ),
        ruled_out=listed(ruled_out, "Excluded: the evidence is against them, or they do not apply to this run."),
        not_supported=listed(ruled_out, "Looked for; nothing was found that supports them."),
        not_checked=listed(ruled_out, "Not judged, because what shows them was not logged."),
        timeline=_timeline(),
        quick_fixes=listed(
            quick_fix,
            "The first change for each cause: what ended the run first, then by impact times confidence.",
        ),
        notes=listed(
            object_of(Note, optional=("origin",), origin=ORIGIN),
            "Worth knowing, but not a fault; for example time that was requested and not used.",
        ),
        decide=_decide(),
        rivals=listed(
            object_of(Rival, confidence=SHARE, decide=_decide()),
            'Where "healthy" is doubted: causes that would look the same, with their remaining probability.',
            3,
        ),
        restart=or_null(_restart(), "Whether a run that was broken off should be started again; null: it was not."),
        baseline=or_null(_baseline()),
        summary=_summary(),
        gaps=listed(gap, "What a reader could not use."),
        **SETTINGS,
        analysis_artifacts=_artifacts(),
        left_out=LEFT_OUT,
        quoted=QUOTED,
    )
    return document(SCHEMA_ID, "A diagnosis of one training run", body)


def _restart() -> Json:
    return object_of(
        Restart,
        verdict={
            **one_of(RestartVerdict),
            "description": "restart: as it is; restart_elsewhere: not on exclude_nodes; do_not_restart: it fails again",
        },
        reason="The reason in words.",
        entry="The entry of rules/restart.yaml that gave the verdict; `none` if no entry is about the fault.",
        cause="The rule of the cause that the verdict is about.",
        confidence=share("Confidence of that cause; 0 if no cause is known."),
        exclude_nodes="Nodes to avoid, for example with sbatch --exclude.",
        in_a_row="How many of the last attempts ended by the same root cause, none further than the one before.",
        attempts="The starts of earlier runs (--history) and of this one, in order.",
    )


def _decide() -> Json:
    return listed(
        object_of(Decider),
        "Where the answer is not sure (below 0.70): what to log, or what to change and then check, and the causes that "
        "this would distinguish (for a healthy run: the symptoms).",
    )


def change() -> Json:
    """A difference between two runs."""
    return object_of(
        Change,
        key="The setting's dotted key, or the metric that shows it.",
        kind="A kind of rules/changes.yaml.",
        before="As logged; null: not set.",
        way="null: not numbers.",
    )


def _baseline() -> Json:
    run = object_(id=TEXT, path=TEXT, name=TEXT, status=one_of(Status))
    parted = object_of(
        Parted,
        effect="Distance in standard errors.",
        final_step="From this step on the metrics differ until the end; null: they do not differ at the end.",
        ours="Level at the end.",
        equal_until="All values are equal up to this step.",
    )
    suspect = object_(**change()["properties"], **object_of(Suspect, leave_out=("change",))["properties"])
    return object_(
        run=run,
        suspect=or_null(suspect),
        unknown=or_null(TEXT, "Why there is no suspect."),
        changes=listed(change(), "From the baseline to the run, what matters most first."),
        parted=listed(parted, "Metrics of both runs that diverge beyond their noise, changes for the worse first."),
        together=listed(TEXT, "Metrics that stay within noise of each other."),
        not_logged=listed(TEXT, "Which of the two runs logged no settings."),
    )


def _sessions() -> Json:
    younger = ("job", "file", "line", "rank", "node", "pattern", "message", "last_step")
    session = object_of(SessionSummary, optional=younger)
    return listed(session, "Starts of the program, in time order; lines count from 1.")


def _processes() -> Json:
    process = object_of(
        ProcessState,
        end="How it ended; lost_peers: it waited for other ranks; silent: it stopped without a word; null: not known.",
        end_line="The line that ended it.",
        needed="Whether the run fails if the process ends badly.",
    )
    return listed(process, "The processes of the last start: ranks, or the program and processes that it started.")


def _timeline() -> Json:
    younger = ("low", "high", "after", "lag", "confidence")
    event = object_of(TimelineEvent, optional=younger, confidence=or_null(SHARE))
    return listed(
        event,
        "What happened, in order. A metric that left its usual course did so between the steps low and high, "
        "lag steps after the metric named in after. confidence is the probability of this order.",
    )


def _run() -> Json:
    coverage = object_(
        ("full", "screened", "skipped"),
        full={**INTEGER, "description": "Curves that every signal examined."},
        screened={**INTEGER, "description": "Curves that only the quick screen examined."},
        skipped={**INTEGER, "description": "Curves whose shape was not judged."},
        not_judged=listed(
            object_(id=TEXT, why=TEXT), "Causes that cannot be judged from these logs, and what is missing."
        ),
    )
    end = object_(
        status={"enum": [*get_args(RunEnd), "unknown"]},
        planned_steps=or_null(NUMBER),
        reached_steps=or_null(INTEGER),
        planned_epochs=or_null(NUMBER),
        reached_epochs=or_null(NUMBER),
    )
    return object_(
        ("suggested", "end", "trainer", "kind"),  # younger than the schema
        id=TEXT,
        path=TEXT,
        name=TEXT,
        status=one_of(RunStatus),
        end=end,
        framework=or_null(TEXT),
        host=or_null(TEXT),
        started=or_null(TIME),
        ended=or_null(TIME),
        sources=listed(object_of(Source)),
        trainer=or_null(
            object_(id=or_null(TEXT), title=TEXT), "The library or script that trained the run, if one is recognised."
        ),
        kind=or_null(_training_kind(), "The kind of training, if something suggests one."),
        joined=listed(TEXT, "Why several places were taken as one run."),
        suggested=listed(TEXT, "Job logs that may belong to this run and were not read."),
        metrics={**INTEGER, "description": "Number of metrics."},
        points={**INTEGER, "description": "Number of logged values."},
        coverage=coverage,
    )


def _training_kind() -> Json:
    return object_(
        name=one_of(TrainingKindName),
        meaning={**TEXT, "description": "The kind in words."},
        confidence=SHARE,
        witnesses=listed(TEXT, "The strongest facts that suggest the kind."),
        sure={**BOOLEAN, "description": "Rules for other kinds of training do not apply."},
    )


def _cause() -> Json:
    block = object_(
        kind=TEXT,
        **dict.fromkeys(("exception", "message", "frame"), or_null(TEXT)),
        **dict.fromkeys(("first_line", "last_line", "repeated"), INTEGER),
        ranks=or_null(listed(INTEGER)),
    )
    fix = object_of(
        Fix,
        scope=one_of(Literal["targeted", "alternative"]),
        optional=("places", "scope"),  # younger than the schema
        places=listed(
            object_of(Place), "Where the setting to change is written, if a context file named config and code."
        ),
    )
    return object_of(
        Cause,
        optional=(
            "block",
            "broader_fix",
            "decide",
            "ended_run",
            "family",
            "limits",
            "origin",
            "templates",
        ),  # younger than the schema
        leave_out=("verdict", "summary", "side_effects", "prevention", "references", "symptoms", "metric"),
        id="The rule.",
        label="The common label, shared by rules for one kind of failure.",
        family="The part of training that the cause is about: the family of the rule.",
        confidence=SHARE,
        line="The root-cause line, counted from 1.",
        block=or_null(block, "The traceback or stack at that line, and all ranks that printed it."),
        evidence=listed(object_of(Evidence, leave_out=("weight", "group", "metrics"), holds="null: not known.")),
        fix=listed(fix),
        broader_fix={**TEXT, "description": "What keeps the fault from coming back; empty: not stated."},
        templates=listed(object_of(CodeTemplate), "Code for the fixes, in the framework of the run if there is one."),
        consequences="What follows from this cause and is not a cause itself.",
        ended_run="The run failed, and its logs say that this cause ended it.",
        missing="What was not logged and would settle the open questions about this cause.",
        decide=_decide(),
        origin=ORIGIN,
        limits="Why the confidence is not higher, such as a metric whose role is not sure.",
    )


def _summary() -> Json:
    metric = object_(
        **dict.fromkeys(("metric", "role"), TEXT),
        **dict.fromkeys(("points", "last_step", "best_step"), INTEGER),
        **dict.fromkeys(("first", "last", "best"), NUMBER),
    )
    recommendation = object_(
        kind={**TEXT, "description": "resume, stop_earlier, regularise, train_longer or ready"},
        **dict.fromkeys(("title", "why", "change"), TEXT),
    )
    fields = {
        "last_step": or_null(INTEGER),
        "epochs": or_null(NUMBER),
        "duration_s": or_null(NUMBER),
        "metrics": listed(metric, "First, last and best values of the headline metrics."),
        "steps_per_second": or_null(NUMBER, "From the times of the longest curve."),
        "checkpoints": INTEGER,
        "checkpoint": or_null(_checkpoint()),
        "recommendation": or_null(recommendation),
        "not_logged": by_name(TEXT, "Roles without a metric, and what cannot be judged without them."),
        "told_symptoms": listed(
            _told(), "For each --symptom: seen in the logs, not there (false), or not known (null)."
        ),
        "faults": listed(TEXT, "Errors in the user's own rules and corrections, which were left out."),
        "why": {**TEXT, "description": "Why nothing could be read (status unreadable)."},
    }
    return object_(tuple(fields), **fields)


def _told() -> Json:
    value = object_(
        feature=TEXT,
        value=VALUE,
        metric=or_null(TEXT),
        step=or_null(INTEGER),
        file=or_null(TEXT),
        line=or_null(INTEGER),
    )
    younger = ("verdict", "evidence")
    return object_of(Told, optional=younger, evidence=listed(value, "The values it was judged by."))


def _checkpoint() -> Json:
    steps = dict.fromkeys(("last_step", "best_step", "nearest_step"), or_null(INTEGER))
    names = dict.fromkeys(("best_metric", "nearest", "named_best"), or_null(TEXT))
    return object_(**steps, **names, unreadable=listed(TEXT))


def _artifacts() -> Json:
    written = {
        "loss_visualization": {**TEXT, "description": "A picture of the most informative curves (--artifacts)."},
        "gradient_heat_map": {**TEXT, "description": "A picture of the gradients by layer (--artifacts)."},
        "gradient_analysis": {**TEXT, "description": "The gradients in numbers, as Markdown (--artifacts)."},
    }
    finding = object_(
        **dict.fromkeys(("session", "index", "step", "end_step", "line"), or_null(INTEGER)),
        **dict.fromkeys(("metric", "role", "kind"), TEXT),
        **dict.fromkeys(("effect", "significance"), or_null(NUMBER)),
        file=or_null(TEXT),
    )
    return object_(
        ("files", *written),  # younger than the schema
        files=listed(TEXT, "Files that were written: the report (-o), and those of --artifacts and --scripts."),
        **written,
        metrics=listed(object_of(Metric, optional=("role_confidence", "role_unsure"), role_confidence=or_null(SHARE))),
        findings=listed(finding, "Changes in the curves, the most significant first."),
        findings_total=INTEGER,
        features=by_name(VALUE, "Every known feature, by name; meanings: loganalyst show RUN --features."),
        ignored_findings=listed(TEXT, "Causes that loganalyst.yaml accepts."),
    )
