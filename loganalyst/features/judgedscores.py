"""Which of the held-out accuracies, scores and error rates are judged."""

import re

import numpy as np

from loganalyst.curves.metricnames import normalise
from loganalyst.curves.rolefile import role_file
from loganalyst.features.context import Context
from loganalyst.features.judgedloss import worst_loss
from loganalyst.model import Curve

# precision or recall, but not "average_precision" (area under the curve)
_ONE_SIDED = re.compile(r"(?<!average_)(?<!avg_)(precision|recall)")


def scores(context: Context) -> list[Curve]:
    """Held-out accuracies, otherwise scores, otherwise error rates.

    Precision and recall can be traded for each other, so they count only without a score that weighs both. Of several
    held-out sets, those of the set with the judged loss come first.
    """
    roles = ("val_accuracy", "val_score", "val_error_rate")
    curves = next(filter(None, map(context.with_role, roles)), [])
    whole = [c for c in curves if not is_one_sided(c)]
    found = [c for c in whole or curves if np.isfinite(c.values).any()]
    return _same_set_first(context, found) if len(found) > 1 else found


def is_one_sided(curve: Curve) -> bool:
    """Whether it is a precision or a recall, which can be traded for each other. An average precision is not."""
    return bool(_ONE_SIDED.search(normalise(curve.metric)))


def _same_set_first(context: Context, found: list[Curve]) -> list[Curve]:
    """Beside `eval_mnli_loss`, `eval_mnli_accuracy` comes before `eval_hans_accuracy`."""
    judged = worst_loss(context)
    set_words = _set_words(judged[0].metric) if judged else set()
    return sorted(found, key=lambda c: -len(set_words & _set_words(c.metric)))


def _set_words(metric: str) -> set[str]:
    """The words of a name that are left of `eval_mnli_matched_loss`: `mnli` and `matched`."""
    words = role_file().words
    return {w for w in normalise(metric).split("_") if not w.isdigit()} - words["val"] - words["aggregate"]
