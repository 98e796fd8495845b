"""What the rules answer for labelled runs, one row a run, and whether it is right."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.judgement import Judgement, judge
from loganalyst.evaluate.labelled import Labelled
from loganalyst.report.diagnosis.document import MIN_CONFIDENCE_LEFT

NAMED = 3  # causes that are looked at
SAID: Mapping[str, pl.DataType] = {
    "status": pl.String(),
    "kind": pl.String(),
    "said": pl.List(pl.String),
    "rivals": pl.List(pl.String),
    "ids": pl.List(pl.String),
    "confidence": pl.Float64(),
    "onset": pl.Int64(),
}


def answered(catalogue: Catalogue, runs: Labelled) -> pl.DataFrame:
    """The truths with what was answered: `status`; `said`, the labels of the first three causes (`healthy` where there
    is none), and their `ids`; `rivals`, the labels of the likeliest others that the report names, up to three in all;
    `confidence` and `kind` of the first (the scale of a cause, or `healthy`; NULL and `none` where nothing was named);
    whether it (`first`), or one of three (`three`), is right; `onset`, the step told for the first cause; `steps`, the
    last step of the run.
    """
    said = pl.DataFrame([_row(j) for j in judge(catalogue, runs.features, runs.witnesses)], schema=SAID)
    rows = list(zip(said["said"].to_list(), said["rivals"].to_list(), runs.truths["labels"].to_list(), strict=True))
    first = pl.Series("first", [bool(named) and named[0] in right for named, _, right in rows], pl.Boolean)
    three = pl.Series("three", [not {*named, *also}.isdisjoint(right) for named, also, right in rows], pl.Boolean)
    steps = runs.features["run_last_step"].alias("steps")
    return pl.concat([runs.truths, said], how="horizontal").with_columns(first, three, steps)


def _row(found: Judgement) -> dict[str, Any]:
    causes = found.causes[:NAMED]
    rivals = [r.label for r in found.ruled_out if r.confidence >= MIN_CONFIDENCE_LEFT][: NAMED - len(causes)]
    if causes:
        first = causes[0]
        said = {"kind": found.sure[first.id].scale, "confidence": first.confidence, "onset": first.onset_step}
        ids, labels = [c.id for c in causes], [c.label for c in causes]
        return {"status": found.status, "said": labels, "rivals": rivals, "ids": ids, **said}
    if found.status == "healthy":
        return {
            "status": "healthy",
            "kind": "healthy",
            "said": ["healthy"],
            "rivals": [r.label for r in found.rivals if r.confidence >= MIN_CONFIDENCE_LEFT][: NAMED - 1],
            "ids": [],
            "confidence": found.confidence,
        }
    return {"status": found.status, "kind": "none", "said": [], "rivals": rivals, "ids": []}
