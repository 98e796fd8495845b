"""Losses that are results of separate experiments, one row each, and not the course of one training.

The rows of a sweep (`alpha=0.1 loss=0.3`), of folds, seeds or networks have neither a step nor an epoch, so the reader
numbers them. They are taken for separate experiments if a setting beside them takes the values of a grid, or if they
are rows of a job log, few, and none of the losses falls steadily.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Curve, Role, Run
from loganalyst.thresholds import feature_limit

WHY = "rows without a step, of separate experiments: {}"
_GRID, _FEW = "a setting beside them takes the values of a grid", "few, and no loss falls steadily"
_SCORES = ("train_accuracy", "val_accuracy", "val_score", "val_error_rate")  # judged as separate by their own feature
_LOSSES = ("train_loss", "val_loss", "train_perplexity", "val_perplexity")
_SETTINGS = ("other", "learning_rate", "parameter_count")  # roles of a column that may hold a setting
_MIN_ROWS = 3
_FORMATS = ("text", "csv", "json")  # of rows that people print or write themselves
# `rank 0`, `gpu 1`: these take turns in the log of one training
_OF_ONE_JOB = re.compile(r"(?i)rank|gpu|device|worker|node|client|agent|env|process|layer|head|task")


def without_course(found: Sequence[Curve], run: Run, roles: Mapping[str, Role]) -> tuple[list[Curve], dict[str, str]]:
    """The curves, of which those of separate experiments have the role `other`, and why, by metric."""
    why: dict[str, str] = {}
    for rows, of_log in _without_steps(found, run):
        if reason := _reason(rows, of_log=of_log):
            why |= {curve.metric: WHY.format(reason) for curve in rows if curve.role.name not in _SCORES}
    return [replace(c, role=roles["other"]) if c.metric in why else c for c in found], why


def _without_steps(found: Sequence[Curve], run: Run) -> list[tuple[list[Curve], bool]]:
    """The curves with losses of each job log or table that has neither a step nor an epoch; whether it is a log."""
    stepped = set(run.lines.filter(pl.col("pattern") == "last-step")["file"])
    texts = {source.path: source.format == "text" for source in run.sources if source.format in _FORMATS}
    by_file: defaultdict[str, list[Curve]] = defaultdict(list)
    for curve in found:
        if curve.source in texts and curve.source not in stepped and curve.values.size:
            by_file[curve.source].append(curve)
    asked = ((rows, texts[file]) for file, rows in by_file.items() if any(map(_is_loss, rows)))
    return [(rows, of_log) for rows, of_log in asked if _are_numbered(rows, of_log=of_log)]


def _are_numbered(rows: Sequence[Curve], *, of_log: bool) -> bool:
    """Whether the reader numbered the rows 0, 1, 2 …, since nothing counts them. Some may hold fewer columns."""
    longest = max(rows, key=lambda curve: curve.values.size)
    uncounted = _has_no_epoch if of_log else _is_uncounted
    counted = np.array_equal(longest.steps, np.arange(longest.steps.size))
    return counted and all(c.steps[-1] <= longest.steps[-1] and uncounted(c) for c in rows)


def _has_no_epoch(curve: Curve) -> bool:
    return not np.isfinite(curve.epochs).any()


def _is_uncounted(curve: Curve) -> bool:
    """Whether the rows of a table have no time, and no epoch or all the same."""
    still = bool((curve.epochs == curve.epochs[0]).all())
    return (still or _has_no_epoch(curve)) and not np.isfinite(curve.times).any()


def _is_loss(curve: Curve) -> bool:
    return curve.role.name in _LOSSES and curve.values.size >= _MIN_ROWS


def _reason(rows: Sequence[Curve], *, of_log: bool) -> str | None:
    """Why the rows of a job log or a table are separate experiments; None if they may be a course."""
    losses = [curve for curve in rows if _is_loss(curve)]
    beside = [c for c in rows if c.role.name in _SETTINGS and any(np.array_equal(c.lines, o.lines) for o in losses)]
    if any(_is_grid(c.values) for c in beside if not _OF_ONE_JOB.search(c.metric)):
        return _GRID
    few = of_log and max(c.values.size for c in losses) < feature_limit("course_without_steps")
    return _FEW if few and not any(map(_falls_steadily, losses)) else None


def _is_grid(x: NDArray[np.float64]) -> bool:
    """Whether a column holds the values of a grid.

    >>> _is_grid(np.array([0.001, 0.003, 0.01, 0.03])), _is_grid(np.array([1.0, 2, 3, 1, 2, 3]))
    (True, True)
    >>> _is_grid(np.array([0.004, 0.002, 0.001, 0.0005])), _is_grid(np.array([1.0, 2, 3, 4]))
    (False, False)
    """
    return bool(np.isfinite(x).all()) and (_is_geometric(x) or _takes_turns(x))


def _is_geometric(x: NDArray[np.float64]) -> bool:
    """Whether each value is a multiple of the one before: a rate that is halved again and again is a schedule."""
    if x.size <= _MIN_ROWS or (x <= 0).any():
        return False
    factor = x[1:] / x[:-1]
    return bool((factor >= feature_limit("grid_factor")).all() or (factor <= 1 / feature_limit("grid_fall")).all())


def _takes_turns(x: NDArray[np.float64]) -> bool:
    """Whether each of at least three values occurs equally often, and is left and taken again."""
    values, counts = np.unique(x, return_counts=True)
    even = values.size >= _MIN_ROWS and counts.min() > 1 and counts.min() == counts.max()
    return bool(even and np.count_nonzero(np.diff(x)) >= values.size)


def _falls_steadily(curve: Curve) -> bool:
    """Whether most pairs of values fall (Kendall's tau)."""
    x = curve.values[np.isfinite(curve.values)]
    later = np.sign(x[:, None] - x[None, :])[np.triu_indices(x.size, 1)]
    return later.size > 0 and float(later.mean()) >= feature_limit("steady_fall")
