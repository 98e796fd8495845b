"""Roles that the values of a curve reveal, where its name is not enough."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve, Role

_MIN_CLOCK_GAIN = 0.2  # usual gain of a clock from 0, as a share of its first value (which includes the start-up)
MIN_BOUND_POINTS = 10  # values that show where a bound above 0 is lowest
_MIN_EXPLORATION_FALL = 0.5  # share that an exploration rate loses, at least
# evidence lower bounds: "elbo", "train/elbo_loss"
_ELBO = re.compile(r"(?<![a-z])elbo(?![a-z])", re.IGNORECASE)
_LOSSES = ("train_loss", "val_loss")


def with_meanings(found: list[Curve], roles: Mapping[str, Role]) -> list[Curve]:
    """The same curves with the roles that their values reveal, and with lower bounds turned into losses.

    A `time` that only accumulates (YOLO's seconds since the start) is no step time. If an exploration rate falls, the
    program learns by reinforcement, and the level of its loss says little. Training maximises an evidence lower bound,
    so a negative bound that rises is negated (as `-elbo`).
    """
    explores = any(c.role.name == "exploration" and _decays(c.values) for c in found)
    read = {"step_time": "wall_time"} if not explores else {"step_time": "wall_time", "train_loss": "rl_loss"}
    turned = [
        replace(c, role=roles[read[c.role.name]])
        if c.role.name in read and (c.role.name != "step_time" or _accumulates(c.values))
        else c
        for c in found
    ]
    return [_negated(c) if c.role.name in _LOSSES and _ELBO.search(c.metric) else c for c in turned]


def _decays(rate: NDArray[np.float64]) -> bool:
    """Whether a rate between 0 and 1 loses at least half of its first value."""
    known = rate[np.isfinite(rate)]
    within = known.size >= 3 and bool(((known >= 0) & (known <= 1)).all())
    return within and float(known[-1]) <= (1 - _MIN_EXPLORATION_FALL) * float(known[0])


def _accumulates(seconds: NDArray[np.float64]) -> bool:
    """Whether each value exceeds the previous one by about as much as the first exceeds 0."""
    known = seconds[np.isfinite(seconds)]
    gains = np.diff(known)
    return gains.size >= 2 and bool((gains > 0).all()) and float(np.median(gains)) > _MIN_CLOCK_GAIN * float(known[0])


def _negated(curve: Curve) -> Curve:
    """The negated curve, if it rises and is negative or lowest at its beginning; otherwise the curve itself.

    A loss that diverges falls before it rises.
    """
    known = curve.values[np.isfinite(curve.values)]
    if not known.size or known[-1] <= known[0] or (known.max() >= 0 and not _begins_lowest(known)):
        return curve
    return replace(curve, metric=f"-{curve.metric}", values=-curve.values)


def _begins_lowest(known: NDArray[np.float64]) -> bool:
    """Whether the lowest of many values is among the first tenth."""
    return known.size >= MIN_BOUND_POINTS and int(np.argmin(known)) <= known.size // 10
