"""Fits the calibration of one scale: how often answers of a stated probability were right.

Logistic regression of "right" on the log-odds that were stated (Platt 1999), with a shift for each kind of run.
Normal priors draw the slope to its usual size and the shifts to 0, so that few answers move little. Among causes
that metrics show, a large share hardly means that the cause is right on runs that the rules do not know: their slope is
small.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.diagnosis.calibrationkind import KINDS
from loganalyst.diagnosis.logodds import logit
from loganalyst.diagnosis.rule import Calibration

LEAST = 1e-9  # distance of a probability from 0 and 1
REACH = 4.0  # log-odds count up to 4 in size (0.982): beyond, they say nothing more about who is right
MIN_SLOPE = 0.05  # a higher probability never gives a lower confidence
RIDGE = 1.0  # draws the slope to 1
RIDGES = {"causes": (0.1, 50.0), "unknown": (0.2, 5.0)}  # by scale: the prior slope, and what draws it there
OFFSET_RIDGE = 0.1
SHIFT_RIDGE = 4.0  # of the shifts: their standard deviation among kinds is about 0.5
MIN_SHIFT = 0.005  # smaller shifts are left out
STEPS = 30

Array = NDArray[np.float64]


def calibration(answers: pl.DataFrame, scale: str = "") -> Calibration:
    """The calibration of a scale from answers: what was `stated` before, and whether they were right (`first`).

    A column `group` (kind of run) or `count` (how often an answer counts) is used if there is one. Without answers, the
    identity.
    """
    if not answers.height:
        return Calibration()
    kinds, of_kind = _dummies(answers, "group")
    x = np.clip([logit(min(max(p, LEAST), 1 - LEAST)) for p in answers["stated"]], -REACH, REACH)
    design = np.column_stack([x, np.ones_like(x), of_kind])
    count = answers["count"].to_numpy() if "count" in answers.columns else np.ones_like(x)
    ridge = np.full(design.shape[1], SHIFT_RIDGE)
    slope, ridge[0] = RIDGES.get(scale, (1.0, RIDGE))
    ridge[1] = OFFSET_RIDGE
    found = _fitted(design, answers["first"].to_numpy().astype(float), count, slope, ridge)
    shifts = np.where(np.abs(found[2:]) >= MIN_SHIFT, found[2:], 0.0).tolist()
    return Calibration(
        float(found[0]),
        float(found[1]),
        REACH,
        {kind: shift for kind, shift in zip(kinds, shifts, strict=True) if shift and kind in KINDS},
    )


def _dummies(answers: pl.DataFrame, column: str) -> tuple[Sequence[Any], Array]:
    """The values of a column, and a column of 0 and 1 for each of them."""
    values = answers[column] if column in answers.columns else pl.Series([None] * answers.height, dtype=pl.String)
    names = sorted(values.drop_nulls().unique())
    return names, np.array([(values == name).fill_null(value=False) for name in names], float).reshape(
        -1, values.len()
    ).T


def _fitted(design: Array, right: Array, count: Array, slope: float, ridge: Array) -> Array:
    """Slope, offset and shifts with the smallest penalised loss, by Newton's method."""
    start = np.zeros(design.shape[1])
    start[0] = slope
    found = start
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ found))
        gradient = design.T @ (count * (p - right)) + ridge * (found - start)
        found = found - np.linalg.solve((design.T * (count * p * (1 - p))) @ design + np.diag(ridge), gradient)
        found[0] = max(found[0], MIN_SLOPE)
    return found
