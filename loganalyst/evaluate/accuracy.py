"""Accuracy, false alarms and calibration, with 95 % intervals over bootstrap draws of the runs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 10
HIGH_CONFIDENCE = 0.9
SCALES_OF_CAUSES = ("causes", "circumstantial", "logs")
DRAWS = 1000
ONSET_TOLERANCE = 0.05  # of the steps of a run, within which an onset is right


def figures(answers: pl.DataFrame) -> dict[str, Any]:
    """All figures of answered runs. A share is {value, low, high, of}, where `of` is the number of runs."""
    healthy, sick = answers.filter(_healthy()), answers.filter(~pl.col("labels").list.contains("healthy"))
    confident = answers.filter(pl.col("confidence").is_not_null())
    sure, right = confident["confidence"].to_numpy(), confident["first"].to_numpy()
    classes = by_class(answers)
    return {
        "runs": answers.height,
        "first": share(answers["first"]),
        "sick_first": share(sick["first"]),
        "sick_three": share(sick["three"]),
        "three": share(answers["three"]),
        "macro_f1": float(np.mean([row["f1"] for row in classes.values()])),
        "false_alarms": share(healthy["kind"].is_in(SCALES_OF_CAUSES) & ~healthy["first"]),
        "sick_called_healthy": share(sick["kind"] == "healthy"),
        "judged": confident.height,
        "brier": drawn(brier, sure, right),
        "calibration_error": drawn(calibration_error, sure, right),
        "sure_right": share(confident.filter(pl.col("confidence") >= HIGH_CONFIDENCE)["first"]),
        "onset": onset_error(answers),
        "bins": bins(sure, right),
        "classes": classes,
        "groups": {key: by_group(answers, key) for key in ("family", "writer")},
    }


def _healthy() -> pl.Expr:
    return pl.col("labels").list.first() == "healthy"


def share(right: pl.Series) -> dict[str, float]:
    """The share of true values with its 95 % interval (Wilson 1927); NaN if there are no values."""
    n, z = right.len(), 1.96
    if not n:
        return {"value": np.nan, "low": np.nan, "high": np.nan, "of": 0}
    p = float(right.cast(pl.Float64).sum()) / n
    middle, half = (p + z * z / (2 * n)), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + side * half) / (1 + z * z / n) for side in (-1, 1))
    return {"value": p, "low": float(low), "high": float(high), "of": n}


def by_class(answers: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of each label that comes first for a run.

    An accepted answer counts as the run's first label, any other as the label that it named.
    """
    true, named = pl.col("labels").list.first(), pl.col("said").list.first()
    counted = answers.with_columns(true=true, counted=pl.when("first").then(true).otherwise(named))
    recall = counted.group_by("true").agg(runs=pl.len(), recall=pl.col("first").mean())
    precision = counted.group_by("counted").agg(precision=pl.col("first").mean())
    both = recall.join(precision, left_on="true", right_on="counted", how="left").sort("true")
    both = both.with_columns(pl.col("precision", "recall").fill_null(0.0))
    p, r = pl.col("precision"), pl.col("recall")
    rows = both.with_columns(f1=pl.when(p + r > 0).then(2 * p * r / (p + r)).otherwise(0.0)).to_dicts()
    return {row.pop("true"): row for row in rows}


def by_group(answers: pl.DataFrame, key: str) -> dict[str, dict[str, float]]:
    """The share of right answers, by one property of the runs."""
    groups = answers.group_by(pl.col(key).fill_null("")).agg(pl.len().alias("runs"), pl.col("first", "three").mean())
    return {row.pop(key): row for row in groups.sort(key).to_dicts()}


def brier(sure: Floats, right: Floats) -> float:
    """The mean squared distance between confidence and truth (Brier 1950)."""
    return float(np.mean((sure - right) ** 2))


def calibration_error(sure: Floats, right: Floats) -> float:
    """The mean distance, over the answers, between the share of right answers in a bin and its mean confidence."""
    return float(sum(row["share"] * abs(row["right"] - row["confidence"]) for row in bins(sure, right)))


def chance_error(sure: Floats, draws: int = 400) -> float:
    """The mean calibration error if every confidence were exactly the probability of being right.

    Few answers have an error by chance alone (Bröcker and Smith 2007), so a calibration error is read beside this one.
    The draws are the same each time.

    >>> round(chance_error(np.full(50, 0.9)), 2), round(chance_error(np.full(5000, 0.9)), 3)
    (0.03, 0.003)
    """
    right = np.random.default_rng(0).random((draws, sure.size)) < sure
    return float(np.mean([calibration_error(sure, one) for one in right])) if sure.size else np.nan


def bins(sure: Floats, right: Floats) -> list[dict[str, float]]:
    """The reliability diagram: ten bins of confidence, without empty bins."""
    at = np.minimum((sure * BINS).astype(int), BINS - 1)
    rows = [(sure[at == b], right[at == b]) for b in range(BINS) if (at == b).any()]
    return [
        {"confidence": float(s.mean()), "right": float(r.mean()), "share": s.size / sure.size, "of": s.size}
        for s, r in rows
    ]


def drawn(figure: Callable[[Floats, Floats], float], sure: Floats, right: Floats) -> dict[str, float]:
    """A figure with its 95 % interval over draws with replacement."""
    if not sure.size:
        return {"value": np.nan, "low": np.nan, "high": np.nan}
    chance = np.random.default_rng(0)
    draws = (chance.integers(0, sure.size, sure.size) for _ in range(DRAWS))
    low, high = np.quantile([figure(sure[d], right[d]) for d in draws], [0.025, 0.975])
    return {"value": figure(sure, right), "low": float(low), "high": float(high)}


def onset_error(answers: pl.DataFrame) -> Mapping[str, float]:
    """The distance between the onset of a right first cause and the true onset.

    `runs` have both, `median` is the median distance in steps, and `near` is the share within 5 % of the run's steps.
    """
    both = answers.filter(pl.col("first") & pl.col("onset_step").is_not_null() & pl.col("onset").is_not_null())
    away = (both["onset"] - both["onset_step"]).abs()
    near = share(away <= ONSET_TOLERANCE * both["steps"])
    return {
        "runs": both.height,
        "median": float(np.median(away.to_numpy())) if both.height else np.nan,
        "near": near["value"],
    }
