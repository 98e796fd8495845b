"""The JSON Schema of `compare --format json`."""

from loganalyst.model import Status
from loganalyst.report.audit.schema import contrast, group
from loganalyst.report.comparison.screen import SCHEMA_ID
from loganalyst.report.diagnosis.schema import INTEGER, NUMBER, SHARE, TEXT, Json, listed, object_, one_of, or_null

__all__ = ["schema"]

MAYBE = or_null(TEXT)
FLAG: Json = {"type": "boolean"}
LEVEL: Json = {"anyOf": [NUMBER, TEXT]}
SCALE: Json = {"enum": ["linear", "log", "choice"]}
THREE: Json = {**listed(NUMBER, "Estimate, and both ends of its 90 % interval.", 3), "minItems": 3}
WHY: Json = {**TEXT, "description": "Why nothing can be told; empty where something is."}


def schema() -> Json:
    """The schema of the one object that `compare` prints."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Many runs compared",
        "description": 'Non-finite numbers are the text "NaN", "Infinity" or "-Infinity"; null means not known.',
        **object_(
            schema={"const": SCHEMA_ID},
            sets=listed(TEXT, "The old set and the new one, where two paths were given; else empty."),
            runs=listed(_run(), "One entry a run, the best first, those that are not compared last."),
            groups=listed(group(), "Runs with the same cause and message, the largest group first."),
            contrasts=listed(contrast(), "What failed runs have and healthy ones have not, the surest first."),
            objective=or_null(_objective()),
            sensitivity=_sensitivity(),
            corner=or_null(_corner()),
            seeds=_seeds(),
            scaling=_scaling(),
            duplicates=listed(_duplicate()),
            regressions=listed(_regression(), "Of two sets: the new one against the old one, what is worse first."),
            suggestions=listed(_suggestion(), "Runs to make next, the one that would tell most first.", 3),
            changed=_by_name(listed(TEXT, "", 2), "Settings that all new runs have otherwise than all old ones."),
            unrelated=listed(_unrelated(), "Groups of runs that have nothing to do with those that are compared."),
        ),
    }


def _by_name(value: Json, description: str) -> Json:
    return {"type": "object", "description": description, "additionalProperties": value}


def _run() -> Json:
    return object_(
        run_id=TEXT,
        path=TEXT,
        status=one_of(Status),
        label=MAYBE,
        objective=or_null(NUMBER),
        left_out={**MAYBE, "description": "Why it is not compared; null: it is."},
        unstable={**FLAG, "description": "It diverged, or a loss ended NaN or infinite."},
        steps=or_null(INTEGER),
        failed={**FLAG, "description": "It was unstable, or has a likely cause."},
        group={**MAYBE, "description": "Its group in `seeds`."},
        seed=MAYBE,
        config=_by_name(MAYBE, "Settings that vary between the runs, as they were logged."),
    )


def _objective() -> Json:
    return object_(
        metric=TEXT,
        role=TEXT,
        worse={"enum": ["up", "down"], "description": "The direction of harm."},
        how={"enum": ["best", "last"]},
        why=TEXT,
        known=INTEGER,
        left_out=_by_name(INTEGER, "Runs that are not compared, by why."),
    )


def _sensitivity() -> Json:
    profile = object_(level=LEVEL, value=NUMBER, low=NUMBER, high=NUMBER)
    importance = object_(
        key=TEXT,
        scale=SCALE,
        also=listed(TEXT, "Settings that vary in the same way."),
        share={**SHARE, "description": "Of the differences between runs, its interactions included."},
        low=SHARE,
        high=SHARE,
        main={**SHARE, "description": "The same without interactions."},
        p=SHARE,
        q={**SHARE, "description": "The false discovery rate at which it is told."},
        important=FLAG,
        profile=listed(profile, "The objective expected at its levels, the other settings at their best."),
    )
    best = object_(at=LEVEL, best=LEVEL)
    region = object_(
        key=TEXT,
        scale=SCALE,
        best=LEVEL,
        levels=listed(LEVEL, "Those not shown to be worse than the best."),
        edge={"enum": ["low", "high", None], "description": "The best is the last that was tried on this side."},
        free={**FLAG, "description": "No level is shown to be worse."},
    )
    interaction = object_(
        keys=listed(TEXT, "", 2),
        share=SHARE,
        q=SHARE,
        important=FLAG,
        best=listed(best, "The best level of the first setting at levels of the second."),
    )
    together: Json = {
        "type": "array",
        "items": {"anyOf": [TEXT, NUMBER]},
        "description": "Two settings that were changed together, and how far the second tells the first.",
    }
    return object_(
        runs=INTEGER,
        importances=listed(importance, "The largest share first."),
        interactions=listed(interaction),
        regions=listed(region, "Of the settings that matter."),
        noise={**or_null(SHARE), "description": "Share of the differences that no setting explains."},
        together=listed(together),
        predicted={**or_null(THREE), "description": "The objective expected at the best of all settings."},
        why_not=WHY,
    )


def _corner() -> Json:
    counts = dict.fromkeys(("runs", "failed", "other_runs", "other_failed"), INTEGER)
    return object_((), conditions=listed(TEXT), **counts, p=SHARE)


def _seeds() -> Json:
    one = object_(id=TEXT, settings=_by_name(TEXT, "Those that vary."), runs=listed(TEXT), mean=NUMBER, sd=NUMBER)
    versus = object_(
        better=TEXT,
        other=TEXT,
        difference={**NUMBER, "description": "Of the means; positive: `better` is better."},
        low=NUMBER,
        high=NUMBER,
        p=SHARE,
        decided=FLAG,
        seeds={**or_null(INTEGER), "description": "Of each that would decide it (80 % power)."},
    )
    return object_(sd=or_null(NUMBER), df=INTEGER, groups=listed(one), versus=listed(versus), why_not=WHY)


def _scaling() -> Json:
    fit = object_(
        x=TEXT,
        law=TEXT,
        verdict={"enum": ["fitted", "undetermined", "too_few", "too_narrow"]},
        runs=INTEGER,
        span=NUMBER,
        text=TEXT,
        parameters=_by_name(THREE, "E, A, alpha, and of two axes B, beta."),
        residual={**or_null(NUMBER), "description": "Robust spread of the logarithms around the law."},
        points=listed(listed(NUMBER, "x (both, where there are two), and loss", 3)),
        curve=listed(listed(NUMBER, "x, loss, and both ends of the interval", 4)),
    )
    optimum = object_(
        run=TEXT,
        unit={"enum": ["tokens", "samples"]},
        parameters=NUMBER,
        data=NUMBER,
        best_parameters=THREE,
        best_data=THREE,
        gain=THREE,
        text=TEXT,
    )
    return object_(fits=listed(fit), optimum=or_null(optimum), why_not=WHY)


def _duplicate() -> Json:
    kinds: Json = {"enum": ["copies", "nondeterministic", "seedless", "without_effect"]}
    return object_(kind=kinds, runs=listed(TEXT), keys=listed(TEXT), spread=or_null(NUMBER))


def _regression() -> Json:
    return object_(
        metric=TEXT,
        role=TEXT,
        old=NUMBER,
        new=NUMBER,
        old_runs=INTEGER,
        new_runs=INTEGER,
        matched={**INTEGER, "description": "Settings that runs of both sets have; 0: compared as a whole."},
        difference=NUMBER,
        low=or_null(NUMBER),
        high=or_null(NUMBER),
        p={**or_null(SHARE), "description": "Over all metrics (Holm)."},
        verdict={"enum": ["worse", "better", "same", "unknown"]},
    )


def _unrelated() -> Json:
    names: Json = {**object_(shared=INTEGER, of=INTEGER), "description": "Those that say what is trained, in both."}
    return object_(
        folder={**TEXT, "description": "The deepest one that holds all of them."},
        runs=listed(TEXT),
        settings=names,
        metrics=names,
        scale=listed(TEXT, "Objectives of which all values differ by far."),
        comparison={"anyOf": [{"$ref": "#"}, {"type": "null"}], "description": "Theirs alone; null: too few."},
    )


def _suggestion() -> Json:
    outcome = listed(TEXT, "What is seen, and what it means.", 2)
    return object_(
        kind={"enum": ["separate", "seeds", "extend", "explore", "scale"]},
        title=TEXT,
        why=TEXT,
        base={**TEXT, "description": "The path of the run to start from."},
        change=_by_name(TEXT, "Its settings to change."),
        outcomes=listed(outcome),
    )
