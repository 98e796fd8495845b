"""Labelled runs and tables of answers, made for tests."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst import features
from loganalyst.evaluate.labelled import TRUTH, Labelled

PUBLIC_LOGS = Path(__file__).parents[1] / "bench" / "public_logs.csv"
FIRST_SIGHT = Path(__file__).parents[1] / "bench" / "first_sight.csv"
PUBLIC_RECORDS = Path(__file__).parents[1] / "bench" / "public_records.csv"
STATUS = {"healthy": "healthy", "cause_unknown": "cause_unknown", "none": "insufficient_data"}
NAN = {"train_loss_points": 500, "train_loss_metric": "loss", "train_loss_nonfinite_count": 1, "run_kind": "training"}


def runs(rows: Sequence[tuple[dict[str, object], list[str], str]]) -> Labelled:
    """Runs of these features, labels and families, which are their sources too."""
    schema = {f.name: {"int": pl.Int64, "float": pl.Float64, "text": pl.String, "bool": pl.Boolean}[f.dtype]
              for f in features.declared().values()}  # fmt: skip
    truths = [
        (f"id{i}", f"r{i}", labels, None, family, "", "", f"r{i}", family) for i, (_, labels, family) in enumerate(rows)
    ]
    table = pl.DataFrame([{name: row.get(name) for name in schema} for row, _, _ in rows], schema=schema)
    return Labelled(pl.DataFrame(truths, schema=TRUTH, orient="row"), table, [{} for _ in rows])


def nan_runs(*labels: str) -> Labelled:
    """Runs whose loss rose and became NaN, with one label each, in three alternating families."""
    climbed = NAN | {"train_loss_run_up_ratio": 3.0, "train_loss_nonfinite_step": 300, "train_loss_finite_before": 300}
    return runs([(climbed, [label], "abc"[i % 3]) for i, label in enumerate(labels)])


def table(*rows: tuple[str, str, bool, float | None]) -> pl.DataFrame:
    """Answers by (true label, said label, right, confidence)."""
    return pl.DataFrame(
        {
            "labels": [[r[0]] for r in rows],
            "said": [[r[1]] for r in rows],
            "first": [r[2] for r in rows],
            "three": [r[2] for r in rows],
            "named": [r[2] for r in rows],
            "status": [STATUS.get(r[1], "diagnosis_complete") for r in rows],
            "ids": [[] if r[1] in STATUS else [r[1]] for r in rows],
            "confidence": [r[3] for r in rows],
            "kind": ["healthy" if r[1] == "healthy" else "causes" for r in rows],
            "onset_step": [100] * len(rows),
            "onset": [110] * len(rows),
            "steps": [1000] * len(rows),
            "family": ["f"] * len(rows),
            "writer": ["csv"] * len(rows),
            "source": ["a source"] * len(rows),
        },
        schema_overrides={"confidence": pl.Float64, "ids": pl.List(pl.String)},
    )
