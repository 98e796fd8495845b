"""Values that a role cannot have: a share above 100 %, a loss term that is a count or dwarfs the total."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.roleclaims import Claims, claim
from loganalyst.curves.rolefile import Entry, role_file
from loganalyst.model import Curve

MAX_SAMPLED = 64  # points of a curve that are looked at, evenly spaced
MAX_OUTSIDE = 0.1  # share of values outside the range that glitches of a log may explain
MIN_COUNT = 2.0  # median of whole numbers from which they are counts; 0 and 1 may be rounded losses
MIN_COUNTS = 3  # different whole numbers that make a count
ROUNDING = 1e-6  # share of a limit by which a value may exceed it


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics whose values contradict their role, with the role that it is instead."""
    entries = role_file().roles
    proposed = [(c, entries.get(claims[c.metric].role.name)) for c in found]
    asked = [(c, entry, _sampled(c)) for c, entry in proposed if entry and (entry.range or entry.total)]
    totals = _totals(found, claims, {entry.total for _, entry, _ in asked if entry.total})
    changed = {c.metric: _contradiction(entry, values, totals) for c, entry, values in asked if values.size}
    return {
        metric: claim(role, f"{claims[metric].why}, but {why}", role_file().certainty.named)
        for metric, (role, why) in changed.items()
        if why
    }


def _sampled(curve: Curve) -> NDArray[np.float64]:
    """At most MAX_SAMPLED finite values, evenly spaced."""
    values = curve.values[:: -(-curve.values.size // MAX_SAMPLED)]
    return values[np.isfinite(values)]


def _totals(found: Sequence[Curve], claims: Claims, asked: set[str]) -> Mapping[str, NDArray[np.float64]]:
    """The values of the longest curve of each total's role."""
    totals = dict[str, Curve]()
    for curve in found:
        role = claims[curve.metric].role.name
        if role in asked and (role not in totals or curve.values.size > totals[role].values.size):
            totals[role] = curve
    return {role: _sampled(curve) for role, curve in totals.items()}


def _contradiction(
    entry: Entry, values: NDArray[np.float64], totals: Mapping[str, NDArray[np.float64]]
) -> tuple[str, str]:
    """The role instead and the reason; an empty reason where the values fit."""
    if entry.range and _outside(values, *entry.range):
        low, high = entry.range
        return entry.otherwise, f"values are not within {low:g} and {high:g}"
    if entry.total and _counts(values):
        return "instance_count", "values are whole numbers"
    total = totals.get(entry.total or "")
    if total is not None and total.size and _dwarfs(values, total):
        return entry.otherwise, "it dwarfs the total"
    return "", ""


def _outside(values: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether more values lie outside than glitches explain."""
    wrong = (values < low - ROUNDING * abs(low)) | (values > high + ROUNDING * abs(high))
    return float(wrong.mean()) > MAX_OUTSIDE


def _counts(values: NDArray[np.float64]) -> bool:
    """Whether all values are whole numbers, and large and different enough for a count."""
    whole = bool((values == np.rint(values)).all())
    return whole and float(np.median(values)) >= MIN_COUNT and np.unique(values).size >= MIN_COUNTS


def _dwarfs(term: NDArray[np.float64], total: NDArray[np.float64]) -> bool:
    return float(np.median(np.abs(term))) > role_file().dwarfs * float(np.median(np.abs(total)))
