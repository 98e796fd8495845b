"""Stages of one training that count their steps anew, such as the tasks of continual learning.

Each task has a metric of its own (`acc_T1`, `acc_T2`), which begins with its stage and is logged to the end, or which
leads at the end of its stage. Another training in the same file repeats all metrics.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve
from loganalyst.thresholds import reading_limit

_NUMBER = re.compile(r"\d+")

Lines = NDArray[np.int64]


def of_stages(found: Sequence[Curve]) -> list[Curve] | None:
    """The curves of a file that holds stages of one training, with steps that count on from stage to stage; None unless
    a file does. Metrics of tasks have all stages, others the last one, because a loss starts over with each task.
    """
    again = {c.source: c for c in reversed(found) if _starts(c).size}  # the first such curve of each file
    for source, curve in again.items():
        starts = _starts(curve)
        own = [c for c in found if _has_lines(c) and c.source == source]
        tasks = {c.metric for family in _families(own) if _are_tasks(family, starts) for c in family}
        if tasks:
            gains = _last_steps(curve, starts)
            whole = {c.metric: _counted_on(c, starts, gains, whole=c.metric in tasks) for c in own}
            return [whole.get(c.metric, c) for c in found]
    return None


def _starts(curve: Curve) -> Lines:
    """The lines at which the steps of one session go back to the first one."""
    if not _has_lines(curve):
        return np.array([], dtype=np.int64)
    back = (np.diff(curve.steps) < 0) & (np.diff(curve.sessions) == 0) & (curve.steps[1:] <= curve.steps[0])
    starts: Lines = curve.lines[1:][back]
    return starts


def _has_lines(curve: Curve) -> bool:
    return curve.values.size > 0 and bool((curve.lines >= 0).all())


def _families(found: Sequence[Curve]) -> Iterator[list[Curve]]:
    """The metrics whose names differ in their numbers only, two or more."""
    families = defaultdict[str, list[Curve]](list)
    for curve in found:
        families[_NUMBER.sub("#", curve.metric)].append(curve)
    return (family for family in families.values() if len(family) > 1)


def _are_tasks(family: Sequence[Curve], starts: Lines) -> bool:
    begins = np.searchsorted(starts, [c.lines.min() for c in family], "right")
    last = np.searchsorted(starts, [c.lines.max() for c in family], "right")
    if (last < starts.size).any():  # metrics of several trainings, such as folds
        return False
    return np.unique(begins).size == len(family) or (not begins.any() and _lead_in_turn(family, starts))


def _lead_in_turn(family: Sequence[Curve], starts: Lines) -> bool:
    """Whether each stage ends with another metric far above all others."""
    leaders = set[int]()
    for start in (*starts, np.iinfo(np.int64).max):
        ends = np.array([c.values[c.lines < start][-1] for c in family])
        leader = int(np.argmax(ends))
        if not ends[leader] > reading_limit("task_lead") * max(np.max(np.delete(ends, leader)), 0.0):
            return False
        leaders.add(leader)
    return len(leaders) == starts.size + 1


def _last_steps(curve: Curve, starts: Lines) -> Lines:
    """For each stage the sum of the last steps of the stages before it."""
    stage = np.searchsorted(starts, curve.lines, "right")
    last = [int(curve.steps[stage == k].max()) for k in range(starts.size)]
    return np.concatenate([[0], np.cumsum(last)])


def _counted_on(curve: Curve, starts: Lines, gains: Lines, *, whole: bool) -> Curve:
    stage = np.searchsorted(starts, curve.lines, "right")
    kept = np.full(stage.size, whole) | (stage == starts.size)
    arrays = ("values", "times", "epochs", "sessions", "lines")
    cut = {name: getattr(curve, name)[kept] for name in arrays}
    return replace(curve, steps=(curve.steps + gains[stage])[kept], **cut)
