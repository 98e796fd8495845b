"""Accuracies, scores and error rates as shares of 1, whether logged in per cent or not."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve
from loganalyst.thresholds import feature_limit


def share(curve: Curve) -> NDArray[np.float64]:
    """The values as shares of 1: accuracies in per cent are divided by 100, error rates subtracted from 1, other scores
    unchanged.
    """
    if curve.role.name == "val_score":
        return curve.values
    values = as_shares(curve.values)
    return 1 - values if curve.role.name == "val_error_rate" else values


def as_shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values as shares of 1: those in per cent are divided by 100.

    >>> as_shares(np.array([50.0, 75.0])).tolist(), as_shares(np.array([0.5, 0.75])).tolist()
    ([0.5, 0.75], [0.5, 0.75])
    """
    return values / unit(values)


def unit(*logged: NDArray[np.float64]) -> float:
    """What 1 is logged as: 100 where a value is in per cent.

    >>> unit(np.array([50.0, 75.0])), unit(np.array([0.5])), unit(np.array([0.5]), np.array([75.0]))
    (100.0, 1.0, 100.0)
    """
    highest = max(float(np.max(values[np.isfinite(values)], initial=0.0)) for values in logged)
    return 100.0 if highest > feature_limit("share_highest") else 1.0


def of_tokens(accuracy: Curve) -> bool:
    """Whether it is the share of right tokens (`mean_token_accuracy`), which has neither a common level nor classes."""
    return "token" in accuracy.metric.lower()
