"""Features of the training loss beside the training accuracy: is the loss that of guesses which are right so often?

Guessing among K equal classes is right once in K times and costs ln K nats, which is -ln of the accuracy.
"""

import numpy as np

from loganalyst.features.context import Computed, Context, ratio, witness_at
from loganalyst.features.validation import of_tokens, share
from loganalyst.model import Feature

NEEDS = "loss and accuracy of the training data"
FEATURES = (
    Feature("first_loss_over_guess", "float", "ratio", "first training loss divided by -ln of the first training accuracy (medians of three; only for an accuracy from 0.02 to 0.5)", NEEDS),
    Feature("last_loss_over_guess", "float", "ratio", "the same at the end (only for an accuracy from 0.02 to 0.98)", NEEDS),
    Feature("last_loss_over_first_guess", "float", "ratio", "last training loss divided by -ln of the first training accuracy", NEEDS),
)  # fmt: skip
_FEW = 3  # values at each end
_FIRST, _LAST = (0.02, 0.5), (0.02, 0.98)  # accuracies whose logarithm means something


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing without a loss above 0 and an accuracy that share their steps."""
    for loss in context.with_role("train_loss")[:1]:
        for accuracy in [c for c in context.with_role("train_accuracy") if not of_tokens(c)][:1]:
            _, at, other = np.intersect1d(loss.steps, accuracy.steps, return_indices=True)
            x, right = loss.values[at], share(accuracy)[other]
            known = np.isfinite(x) & np.isfinite(right)
            x, right = x[known], right[known]
            if x.size < 2 * _FEW or x.min() < 0:
                return {}
            first, last = float(np.median(x[:_FEW])), float(np.median(x[-_FEW:]))
            began = _guess(float(np.median(right[:_FEW])), *_FIRST)
            return {
                "first_loss_over_guess": (ratio(first, began), witness_at(loss, 0)),
                "last_loss_over_guess": ratio(last, _guess(float(np.median(right[-_FEW:])), *_LAST)),
                "last_loss_over_first_guess": ratio(last, began),
            }
    return {}


def _guess(accuracy: float, low: float, high: float) -> float | None:
    """The loss of guesses that are right so often; None outside the range."""
    return -float(np.log(accuracy)) if low <= accuracy <= high else None
