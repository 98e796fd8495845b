"""The figures of each source (or kind of run) of labelled runs, and their mean."""

from typing import Any

import numpy as np
import polars as pl

from loganalyst.evaluate.accuracy import HIGH_CONFIDENCE, calibration_error, chance_error

MEAN = "mean"  # the name of the last row
SHARES = ("first", "three", "error", "chance", "log_loss")  # their mean over the sources counts; others add up
LEAST = 1e-9  # the smallest probability of a log loss


def figures(answers: pl.DataFrame, key: str = "source") -> pl.DataFrame:
    """One row per value of `key`, and a last row with the mean of the shares and the sum of the counts.

    `runs`; `first` and `three`: shares of right first answers, and of runs with one right cause of three; `alarms` of
    the `healthy` runs; `silent`: `sick` runs that are called healthy; `unknown`: runs with a fault that no cause
    explains; `sure_right` of `sure` answers at HIGH_CONFIDENCE; `error` (calibration error) and `log_loss` of the
    answers with a confidence; `chance`: the calibration error that so many answers have if they state the truth.
    """
    names = answers[key].unique().sort().to_list()
    rows = pl.DataFrame([{key: name, **_figures(answers.filter(pl.col(key) == name))} for name in names])
    whole = rows.select(pl.lit(MEAN).alias(key), pl.col(SHARES).mean(), pl.exclude(key, *SHARES).sum())
    return pl.concat([rows, whole.select(rows.columns)])


def _figures(answers: pl.DataFrame) -> dict[str, Any]:
    label = pl.col("labels").list.first()
    named = pl.col("ids").list.len() > 0
    healthy = answers.filter(label == "healthy")
    sick = answers.filter(~pl.col("labels").list.contains("healthy"))
    confident = answers.filter(pl.col("confidence").is_not_null())
    sure = confident.filter(pl.col("confidence") >= HIGH_CONFIDENCE)
    stated, right = confident["confidence"].to_numpy(), confident["first"].to_numpy()
    return {
        "runs": answers.height,
        "first": answers["first"].mean(),
        "three": answers["named"].mean(),
        "alarms": healthy.filter(named & ~pl.col("first")).height,
        "healthy": healthy.height,
        "silent": sick.filter(status="healthy").height,
        "sick": sick.height,
        "unknown": answers.filter(status="cause_unknown").height,
        "sure_right": int(sure["first"].sum()),
        "sure": sure.height,
        "error": calibration_error(stated, right),
        "chance": chance_error(stated),
        "log_loss": log_loss(stated, right),
    }


def log_loss(stated: np.ndarray, right: np.ndarray) -> float:
    """Minus the mean logarithm of the probability that was stated for what came true.

    >>> round(log_loss(np.array([0.8, 0.8]), np.array([True, False])), 3)
    0.916
    """
    p = np.clip(np.where(right, stated, 1 - stated), LEAST, 1.0)
    return float(-np.log(p).mean()) if p.size else np.nan


def text(rows: pl.DataFrame) -> str:
    """The figures as a table for the terminal."""
    key = rows.columns[0]
    head = f"{key:14}{'n':>5}{'first':>7}{'three':>7}{'alarms':>10}{'silent':>10}{'unknown':>8}{'>=.90':>11}"
    lines = [f"{head}{'ECE':>7}{'chance':>8}{'log loss':>9}"]
    for row in rows.iter_rows(named=True):
        counts = (f"{row[a]}/{row[b]}" for a, b in (("alarms", "healthy"), ("silent", "sick"), ("sure_right", "sure")))
        alarms, silent, sure = counts
        lines.append(
            f"{row[key]:14}{row['runs']:5}{row['first']:7.3f}{row['three']:7.3f}{alarms:>10}{silent:>10}"
            f"{row['unknown']:8}{sure:>11}{row['error']:7.3f}{row['chance']:8.3f}"
            f"{row['log_loss']:9.3f}"
        )
    return "".join(f"{line}\n" for line in lines)
