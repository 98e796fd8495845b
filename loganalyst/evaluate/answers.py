"""The rules' answers for labelled runs, one row per run, and whether they are right."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.judgement import Judgement, judge
from loganalyst.evaluate.labelled import Labelled

MAX_NAMED = 3  # causes that count as named
ANSWER: Mapping[str, pl.DataType] = {
    "status": pl.String(),
    "kind": pl.String(),
    "said": pl.List(pl.String),
    "rivals": pl.List(pl.String),
    "ids": pl.List(pl.String),
    "confidence": pl.Float64(),
    "onset": pl.Int64(),
}


def answered(catalogue: Catalogue, runs: Labelled) -> pl.DataFrame:
    """The truths with the answers:

    `status`; `said` and `ids`: labels and ids of the first three causes (`healthy` if there is none); `rivals`: labels
    of the likeliest other causes in the report, up to three labels in all; `confidence` and `kind` of the first answer
    (kind: the scale of the cause, or `healthy`; NULL and `none` if nothing was named); `first` and `three`: whether
    the first answer, or one of three, is right; `onset`: the step of the first cause; `steps`: the run's last step.
    """
    answers = pl.DataFrame([_row(j) for j in judge(catalogue, runs.features, runs.witnesses)], schema=ANSWER)
    rows = list(
        zip(answers["said"].to_list(), answers["rivals"].to_list(), runs.truths["labels"].to_list(), strict=True)
    )
    first = pl.Series("first", [bool(named) and named[0] in right for named, _, right in rows], pl.Boolean)
    three = pl.Series("three", [not {*named, *also}.isdisjoint(right) for named, also, right in rows], pl.Boolean)
    steps = runs.features["run_last_step"].alias("steps")
    return pl.concat([runs.truths, answers], how="horizontal").with_columns(first, three, steps)


def _row(found: Judgement) -> dict[str, Any]:
    causes = found.causes[:MAX_NAMED]
    rivals = [a.label for a in found.alternatives][: MAX_NAMED - len(causes)]
    if causes:
        first = causes[0]
        of_first = {"kind": found.sure[first.id].scale, "confidence": first.confidence, "onset": first.onset_step}
        ids, labels = [c.id for c in causes], [c.label for c in causes]
        return {"status": found.status, "said": labels, "rivals": rivals, "ids": ids, **of_first}
    if found.status == "healthy":
        return {
            "status": "healthy",
            "kind": "healthy",
            "said": ["healthy"],
            "rivals": [r.label for r in found.rivals][: MAX_NAMED - 1],
            "ids": [],
            "confidence": found.confidence,
        }
    return {"status": found.status, "kind": "none", "said": [], "rivals": rivals, "ids": []}
