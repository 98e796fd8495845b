"""The JSON Schema of `compare --format json`."""

from loganalyst.comparing import comparisonresult as result
from loganalyst.model import Status
from loganalyst.report.audit.schema import contrast, group
from loganalyst.report.common.schemaparts import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    SETTINGS,
    SHARE,
    TEXT,
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
from loganalyst.report.comparison.screen import SCHEMA_ID

__all__ = ["schema"]

LEVEL: Json = {"anyOf": [NUMBER, TEXT]}
INTERVAL: Json = {**listed(NUMBER, "Estimate, and both ends of its 90 % interval.", 3), "minItems": 3}
WHY_NOT = "Why there is no answer; empty where there is one."


def schema() -> Json:
    """The schema of the one object that `compare` prints."""
    objective = object_of(result.Objective, worse="The direction of harm.", left_out="Runs not compared, by reason.")
    corner = object_of(result.Corner, p=SHARE)
    regression = object_of(
        result.Regression,
        matched="Settings that runs of both sets have in common; 0: the sets are compared as a whole.",
        p=or_null(SHARE, "Over all metrics (Holm)."),
    )
    suggestion = object_of(
        result.Suggestion,
        base="The path of the run to start from.",
        change="The settings to change in it.",
        outcomes=listed(listed(TEXT, "A possible outcome, and its meaning.", 2)),
    )
    body = object_(
        tuple(SETTINGS),  # younger than the schema
        schema={"const": SCHEMA_ID},
        sets=listed(TEXT, "The old set and the new one, where two paths were given; otherwise empty."),
        runs=listed(_run(), "One entry for each run: the best first, runs that are not compared last."),
        groups=listed(group(), "Runs with the same cause and message, the largest group first."),
        contrasts=listed(contrast(), "What failed runs have and healthy runs do not, the surest first."),
        objective=or_null(objective),
        sensitivity=_sensitivity(),
        corner=or_null(corner),
        seeds=_seeds(),
        scaling=_scaling(),
        duplicates=listed(object_of(result.Duplicate)),
        regressions=listed(regression, "For two sets: the new one compared with the old one, what is worse first."),
        suggestions=listed(suggestion, "Runs to make next, the most informative first.", 3),
        changed=by_name(listed(TEXT, most=2), "Settings that differ between all new runs and all old runs."),
        unrelated=listed(_unrelated(), "Groups of runs that are unrelated to the compared runs."),
        **SETTINGS,
    )
    return document(SCHEMA_ID, "Many runs compared", body)


def _run() -> Json:
    return object_(
        run_id=TEXT,
        path=TEXT,
        status=one_of(Status),
        label=or_null(TEXT),
        objective=or_null(NUMBER),
        left_out=or_null(TEXT, "Why it is not compared; null: it is compared."),
        unstable={**BOOLEAN, "description": "It diverged, or a loss ended NaN or infinite."},
        steps=or_null(INTEGER),
        failed={**BOOLEAN, "description": "It was unstable, or has a likely cause."},
        group=or_null(TEXT, "Its group in `seeds`."),
        seed=or_null(TEXT),
        config=by_name(or_null(TEXT), "Settings that vary between the runs, as they were logged."),
    )


def _sensitivity() -> Json:
    profile = object_(level=LEVEL, value=NUMBER, low=NUMBER, high=NUMBER)
    importance = object_of(
        result.Importance,
        also="Settings that vary in the same way.",
        share=share("Share of the differences between runs, including interactions."),
        low=SHARE,
        high=SHARE,
        main=share("The same without interactions."),
        p=SHARE,
        q=share("The false discovery rate."),
        profile=listed(profile, "The expected objective at each level, with the other settings at their best."),
    )
    region = object_of(
        result.Region,
        best=LEVEL,
        levels=listed(LEVEL, "Levels not shown to be worse than the best."),
        edge={"enum": ["low", "high", None], "description": "The best level is the last one tried on this side."},
        free="No level is shown to be worse.",
    )
    interaction = object_of(
        result.Interaction,
        keys=listed(TEXT, most=2),
        share=SHARE,
        q=SHARE,
        best=listed(
            object_(at=LEVEL, best=LEVEL), "The best level of the first setting, at levels of the second setting."
        ),
    )
    together: Json = {
        "type": "array",
        "items": {"anyOf": [TEXT, NUMBER]},
        "description": "Two settings that were changed together, and how well the second predicts the first.",
    }
    return object_of(
        result.Sensitivity,
        importances=listed(importance, "The largest share first."),
        interactions=listed(interaction),
        regions=listed(region, "For the settings that matter."),
        noise=or_null(SHARE, "Share of the differences that no setting explains."),
        together=listed(together),
        predicted=or_null(INTERVAL, "The expected objective with every setting at its best."),
        why_not=WHY_NOT,
    )


def _seeds() -> Json:
    versus = object_of(
        result.Versus,
        difference="Difference of the means; positive: `better` is better.",
        p=SHARE,
        seeds="How many seeds each group would need to decide it (80 % power).",
    )
    groups = listed(object_of(result.SeedGroup, settings="The settings that vary."))
    return object_of(result.Seeds, groups=groups, versus=listed(versus), why_not=WHY_NOT)


def _scaling() -> Json:
    fit = object_of(
        result.ScalingFit,
        verdict={"enum": ["fitted", "undetermined", "too_few", "too_narrow"]},
        parameters=by_name(INTERVAL, "E, A, alpha, and with two axes B, beta."),
        residual="Robust spread of the logarithms around the law.",
        points=listed(listed(NUMBER, "x (or both axes, where there are two), and loss.", 3)),
        curve=listed(listed(NUMBER, "x, loss, and both ends of the interval.", 4)),
    )
    optimum = object_of(
        result.Optimum,
        unit={"enum": ["tokens", "samples"]},
        best_parameters=INTERVAL,
        best_data=INTERVAL,
        gain=INTERVAL,
    )
    return object_of(result.Scaling, fits=listed(fit), optimum=or_null(optimum), why_not=WHY_NOT)


def _unrelated() -> Json:
    names = object_(shared=INTEGER, of=INTEGER)
    return object_of(
        result.Unrelated,
        folder="The deepest folder that holds all of them.",
        settings={**names, "description": "Settings that say what is trained: how many both groups have."},
        metrics={**names, "description": "Metrics that say what is trained: how many both groups have."},
        scale="Objectives whose values all differ by orders of magnitude.",
        comparison=or_null({"$ref": "#"}, "The comparison of these runs alone; null: they are too few."),
    )
