"""Features of a training loss that ends at 0: since when, whether as a sudden stop, and what the logged 0 means; and a
metric that is named like the loss, but is always 0.
"""

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.roles import proposed
from loganalyst.features.context import Computed, Context, event_features, last_level, median, witness_at
from loganalyst.features.shares import as_shares
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

ROLE = "train_loss"
MIN_ZEROS = 3  # values of a lasting zero
RECENT = 5  # nonzero values before it that show how fast the loss fell
FALL_EXPONENT = 2.0  # a fall that is steeper than this power of the steepest recent fall is sudden

FEATURES = (
    *event_features("train_loss_zero", "start of a lasting run of values that are logged as 0", ROLE),
    Feature("train_loss_zero_value", "text", "", "these values as they were logged, such as `exactly 0`, or `0.0000 (below 0.00005)` for a loss with four decimals", ROLE),
    Feature("train_loss_before_zero_share", "float", "share", "level of the last nonzero values before that run relative to the first level (0: the loss reached 0 gradually, or the accuracy is complete, so a loss of 0 is no fault)", ROLE),
    Feature("train_loss_level_before_zero", "float", "loss", "level of the last nonzero values before that run (NULL: there is none)", ROLE),
    Feature("train_loss_placeholder", "text", "", "a metric named like a training loss that is always 0 while a held-out loss moves, so that it is none", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; only a placeholder where no training loss is logged."""
    always_0 = [c.metric for c in context.with_role("other") if c.values.size >= MIN_ZEROS and not c.values.any()]
    named = [metric for metric in always_0 if proposed([metric])[metric][0].name in (ROLE, "loss_component")]
    if named:
        return {"train_loss_placeholder": named[0]}
    for curve in context.with_role(ROLE)[:1]:
        return _zeros(context, curve)
    return {}


def _zeros(context: Context, curve: Curve) -> Computed:
    zero = curve.values == 0
    onset = len(zero) - int(np.argmin(zero[::-1])) if zero.any() and not zero.all() else 0
    lasting = bool(zero[onset:].any()) and len(zero) - onset >= MIN_ZEROS
    if not lasting:
        return {"train_loss_zero_count": 0}
    witness, step = witness_at(curve, onset), context.quantum(curve)
    before = curve.values[:onset][np.isfinite(curve.values[:onset]) & ~zero[:onset]]
    return {
        "train_loss_zero_count": (1, witness),
        "train_loss_zero_step": (witness.step, witness),
        "train_loss_zero_value": (zero_as_logged(step), witness),
        "train_loss_level_before_zero": float(np.median(before[-RECENT:])) if before.size else None,
        "train_loss_before_zero_share": 0.0 if _is_complete(context) else _before_zero(curve.values[:onset], step),
    }


def zero_as_logged(step: float) -> str:
    """A 0 of a curve with the quantum `step`, and what it means.

    >>> zero_as_logged(0.0001), zero_as_logged(0.0)
    ('0.0000 (below 0.00005)', 'exactly 0')
    """
    if not step:
        return "exactly 0"
    decimals = round(-np.log10(step))
    return f"{0:.{decimals}f} (below {step / 2:.{decimals + 1}f})"


def _is_complete(context: Context) -> bool:
    """Whether a training or held-out accuracy ends so high that the loss may be 0."""
    for curve in (*context.with_role("train_accuracy"), *context.with_role("val_accuracy")):
        level = last_level(as_shares(curve.values))
        if level is not None and level >= feature_limit("accuracy_complete"):
            return True
    return False


def _before_zero(before: NDArray[np.float64], step: float) -> float:
    """Level before a lasting zero relative to the first level; 0 if the loss reached 0 gradually."""
    x = np.abs(before[np.isfinite(before) & (before != 0)])
    if not x.size:
        return 1.0
    last = median(x[-RECENT:])
    unit = step or _last_digit(np.unique(x))
    return 0.0 if last <= RECENT * unit or _falls_to(x, step / 2) else last / median(x[:3])


def _falls_to(x: NDArray[np.float64], bound: float) -> bool:
    """Whether the recent values fall so fast that the next one may well be below `bound` (0: it is exactly 0)."""
    recent = x[-RECENT:]
    steepest = float(np.max(recent[:-1] / recent[1:], initial=1.0))
    return bound > 0 and float(recent[-1]) <= bound * steepest**FALL_EXPONENT


def _last_digit(distinct: NDArray[np.float64]) -> float:
    """Unit of the last digit logged: the smallest distance of two values, or of a single value its last decimal."""
    if distinct.size == 1:
        return 10.0 ** int(Decimal(repr(float(distinct[0]))).as_tuple().exponent)
    return float(np.min(np.diff(distinct, prepend=0.0)))
