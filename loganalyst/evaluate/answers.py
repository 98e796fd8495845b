"""The rules' answers for labelled runs, one row per run, and whether they are right."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from loganalyst.diagnosis.calibrationkind import calibration_kind
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.judgement import Judgement, judge
from loganalyst.evaluate.labelled import Labelled

MAX_NAMED = 3  # causes that count as named
WITHOUT_CAUSE = {"healthy": "healthy", "cause_unknown": "unknown"}  # kinds of answers without a cause, by status
ANSWER: Mapping[str, pl.DataType] = {
    "status": pl.String(),
    "kind": pl.String(),
    "said": pl.List(pl.String),
    "rivals": pl.List(pl.String),
    "ids": pl.List(pl.String),
    "confidence": pl.Float64(),
    "stated": pl.Float64(),
    "onset": pl.Int64(),
}


def answered(catalogue: Catalogue, runs: Labelled) -> pl.DataFrame:
    """The truths with the answers:

    `status`; `said` and `ids`: labels and ids of the first three causes (`said` is the status if there is none);
    `rivals`: labels of the likeliest other causes in the report, up to three labels in all; `confidence`, `stated`
    (the same before calibration and limits) and `kind` of the first answer (kind: the scale of the cause, `healthy` or
    `unknown`; NULL and `none` if nothing was judged);
    `first`, `named` and `three`: whether the first answer, one of `said`, or one of `said` and `rivals` is right by its
    label or id; `onset`: the step of the first cause; `steps`: the run's last step; `group`: the
    kind of the run (`calibrationkind`).
    """
    answers = pl.DataFrame([_row(j) for j in judge(catalogue, runs.features, runs.witnesses)], schema=ANSWER)
    rows = zip(*(answers[name].to_list() for name in ("said", "ids", "rivals")), runs.truths["labels"], strict=True)
    found = [_right(said, ids, rivals, set(labels)) for said, ids, rivals, labels in rows]
    right = pl.DataFrame(found, schema=dict.fromkeys(("first", "named", "three"), pl.Boolean), orient="row")
    columns = [c for c in ("run_kind", "training_kind") if c in runs.features.columns]
    of_kind = runs.features.select(pl.col("run_last_step"), *columns).iter_rows(named=True)
    groups = [calibration_kind(row) for row in of_kind]
    more = (runs.features["run_last_step"].alias("steps"), pl.Series("group", groups, pl.String))
    return pl.concat([runs.truths, answers, right], how="horizontal").with_columns(more)


def _right(said: Sequence[str], ids: Sequence[str], rivals: Sequence[str], labels: set[str]) -> tuple[bool, bool, bool]:
    """Whether the first answer is fair, whether one of three is, and whether one of these or a rival is."""
    first, named = (not labels.isdisjoint((*said[:n], *ids[:n])) for n in (1, MAX_NAMED))
    return first, named, named or not labels.isdisjoint(rivals)


def _row(found: Judgement) -> dict[str, Any]:
    causes = found.causes[:MAX_NAMED]
    said, ids = [c.label for c in causes] or [found.status], [c.id for c in causes]
    kind: str
    if causes:
        first, others = causes[0], [a.label for a in found.alternatives][: MAX_NAMED - len(causes)]
        kind, confidence, onset = found.sure[first.id].scale, first.confidence, first.onset_step
    else:
        others = [r.label for r in (found.rivals or found.alternatives)][: MAX_NAMED - 1]
        kind, confidence, onset = WITHOUT_CAUSE.get(found.status, "none"), found.confidence, None
    return {
        "status": found.status,
        "said": said,
        "rivals": others,
        "ids": ids,
        "kind": kind,
        "confidence": confidence if kind != "none" else None,
        "stated": found.stated if kind != "none" else None,
        "onset": onset,
    }
