"""What curves are, where their values tell more than their names."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve, Role

_ADDED = 0.2  # of the first value, the usual gain of a clock that began at 0 (its first stretch holds the start-up)
_EXPLORED = 0.5  # of an exploration rate, the share that it loses at least
_BOUND = re.compile(r"(?<![a-z])elbo(?![a-z])", re.IGNORECASE)
_LOSSES = ("train_loss", "val_loss")


def meant(found: list[Curve], roles: Mapping[str, Role]) -> list[Curve]:
    """The same curves, with the roles that their values give them, and bounds turned into losses.

    A `time` that only adds up (YOLO's, of the seconds since the start) is no step's time. Where an exploration rate
    falls, the program learns by reinforcement, and the level of its loss says little. An evidence lower bound below 0
    that rises is what training is to raise: its negative is the loss (as `-elbo`).
    """
    explores = any(c.role.name == "exploration" and _decays(c.values) for c in found)
    read = {"step_time": "wall_time"} if not explores else {"step_time": "wall_time", "train_loss": "rl_loss"}
    turned = [
        replace(c, role=roles[read[c.role.name]])
        if c.role.name in read and (c.role.name != "step_time" or _adds_up(c.values))
        else c
        for c in found
    ]
    return [_turned_over(c) if c.role.name in _LOSSES and _BOUND.search(c.metric) else c for c in turned]


def _decays(rate: NDArray[np.float64]) -> bool:
    known = rate[np.isfinite(rate)]
    within = known.size >= 3 and bool(((known >= 0) & (known <= 1)).all())
    return within and float(known[-1]) <= (1 - _EXPLORED) * float(known[0])


def _adds_up(seconds: NDArray[np.float64]) -> bool:
    """Whether each value is above the one before by about as much as the first is above 0."""
    known = seconds[np.isfinite(seconds)]
    grown = np.diff(known)
    return grown.size >= 2 and bool((grown > 0).all()) and float(np.median(grown)) > _ADDED * float(known[0])


def _turned_over(curve: Curve) -> Curve:
    known = curve.values[np.isfinite(curve.values)]
    if not known.size or known.max() >= 0 or known[-1] <= known[0]:
        return curve
    return replace(curve, metric=f"-{curve.metric}", values=-curve.values)
