"""Stages of one training that count their steps anew, such as the tasks of continual learning.

Each task brings a metric of its own (`acc_T1`, `acc_T2`), which begins with its stage and is logged to the end. Another
training in the same file logs all metrics from its first step on.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve

_NUMBER = re.compile(r"\d+")


def counted_on(found: Sequence[Curve]) -> list[Curve] | None:
    """The curves with steps that count on from stage to stage; None unless a file holds stages of one training."""
    for curve in found:
        starts = _starts(curve)
        if starts.size and _are_stages([c for c in found if _has_lines(c) and c.source == curve.source], starts):
            gains = _last_steps(curve, starts)
            return [_counted_on(c, starts, gains) if c.source == curve.source else c for c in found]
    return None


def _starts(curve: Curve) -> NDArray[np.int64]:
    """The lines at which the steps of one session go back to the first one."""
    if not _has_lines(curve):
        return np.array([], dtype=np.int64)
    back = (np.diff(curve.steps) < 0) & (np.diff(curve.sessions) == 0) & (curve.steps[1:] <= curve.steps[0])
    starts: NDArray[np.int64] = curve.lines[1:][back]
    return starts


def _has_lines(curve: Curve) -> bool:
    return curve.values.size > 0 and bool((curve.lines >= 0).all())


def _are_stages(found: Sequence[Curve], starts: NDArray[np.int64]) -> bool:
    """Whether metrics that differ in a number only begin in different stages, and all are logged in the last one."""
    for family in _families(found):
        begins = np.searchsorted(starts, [c.lines.min() for c in family], "right")
        last = np.searchsorted(starts, [c.lines.max() for c in family], "right")
        if np.unique(begins).size == len(family) and (last == starts.size).all():
            return True
    return False


def _families(found: Sequence[Curve]) -> Iterator[list[Curve]]:
    """The metrics whose names differ in their numbers only, two or more."""
    families = defaultdict[str, list[Curve]](list)
    for curve in found:
        families[_NUMBER.sub("#", curve.metric)].append(curve)
    return (family for family in families.values() if len(family) > 1)


def _last_steps(curve: Curve, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each stage the sum of the last steps of the stages before it."""
    stage = np.searchsorted(starts, curve.lines, "right")
    last = [int(curve.steps[stage == k].max()) for k in range(starts.size)]
    return np.concatenate([[0], np.cumsum(last)])


def _counted_on(curve: Curve, starts: NDArray[np.int64], gains: NDArray[np.int64]) -> Curve:
    stage = np.searchsorted(starts, curve.lines, "right")
    return replace(curve, steps=curve.steps + gains[stage])
