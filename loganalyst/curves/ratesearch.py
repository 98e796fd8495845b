"""Losses of a search for the learning rate, which raises the rate until the loss runs away, and trains nothing.

The range test of Smith, "Cyclical Learning Rates for Training Neural Networks" (2017), in the exponential form of
fastai, Lightning and Keras' callbacks: every update has a rate that is the same factor larger than the one before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve, Role
from loganalyst.thresholds import feature_limit

WHY = "the learning rate rises from {:.2g} to {:.2g} by the same factor at each step: a search for it, and no training"
_RATE = "learning_rate"


def without_searches(found: Sequence[Curve], roles: Mapping[str, Role]) -> tuple[list[Curve], dict[str, str]]:
    """The curves, of which the judged ones of a search for the rate have the role `other`, and why, by metric."""
    searches = {curve.source: curve.values for curve in found if curve.role.name == _RATE and is_search(curve.values)}
    why = {
        c.metric: WHY.format(searches[c.source][0], searches[c.source][-1])
        for c in found
        if c.source in searches and c.role.judged and c.role.name != _RATE
    }
    return [replace(c, role=roles["other"]) if c.metric in why else c for c in found], why


def is_search(rates: NDArray[np.float64]) -> bool:
    """Whether learning rates rise by the same factor at each step, over several powers of ten. A warm-up rises in a
    line.

    >>> is_search(np.geomspace(1e-7, 10, 90)), is_search(np.linspace(1e-7, 1e-3, 90))
    (True, False)
    """
    if rates.size < feature_limit("search_points") or not np.isfinite(rates).all() or not (rates > 0).all():
        return False
    factors = np.diff(np.log(rates))
    even = float(factors.std()) <= feature_limit("search_scatter") * float(factors.mean())
    return even and bool(rates[-1] >= feature_limit("search_span") * rates[0])
