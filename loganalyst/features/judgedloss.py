"""Which of the held-out losses is judged, and which training loss is compared with it."""

from collections.abc import Sequence

from loganalyst.curves.heldoutsets import bare_name
from loganalyst.curves.metricnames import measure, normalise
from loganalyst.features.context import Context, last_level, lowest_index, ratio
from loganalyst.features.separateresults import shows_no_course
from loganalyst.model import Curve
from loganalyst.signals import Gap
from loganalyst.thresholds import feature_limit

OF_LANGUAGE = ("fine-tuning", "pretraining", "preference")  # kinds of training that are often evaluated on several sets


def worst_loss(context: Context) -> tuple[Curve, Gap] | None:
    """The held-out loss that looks worst and its gap to the training loss; None if none is logged.

    A model may be evaluated on several sets. A set that gets worse while another one improves is forgotten, or of another
    distribution, and says nothing about new samples of what is trained: `features/forgetting.py` is about it.
    """
    whole = context.with_role("val_loss")
    held_out = whole or context.with_role("val_loss_component")
    # fewer values than those of a course, and without a step, are results of tests behind the training
    longest = max((c.values.size for c in held_out), default=0)
    held_out = [c for c in held_out if 2 * c.values.size > longest or not shows_no_course(context, c)]
    if whole or _is_of_language(context):
        held_out = [c for c in held_out if not _another_gains(c, held_out)] or held_out
    gaps = [(c, context.gap(partner(context, c), c)) for c in held_out]
    return max(gaps, key=_badness, default=None)


def other_fall(curve: Curve, held_out: Sequence[Curve]) -> tuple[float, str]:
    """How far another of the held-out losses fell since `curve` was lowest, as a share of its level then, and its name.

    Returns 0 and an empty name if none fell.
    """
    lowest = lowest_index(curve.values)
    step = int(curve.steps[lowest]) if lowest is not None else int(curve.steps[-1])
    falls = [(0.0, "")]
    for other in (c for c in held_out if _is_of_another_set(curve.metric, c.metric)):
        before, last = last_level(other.values[other.steps <= step]), last_level(other.values)
        share_left = ratio(last, before)
        falls += [] if share_left is None else [(1 - share_left, other.metric)]
    return max(falls)


def partner(context: Context, held_out: Curve) -> Curve | None:
    """The training curve of the same name apart from the word for held-out data, otherwise the training loss."""
    wanted = bare_name(held_out.metric)
    train = [*context.with_role("train_loss"), *context.with_role("loss_component", "recon_loss", "quantisation_loss")]
    same = [c for c in train if bare_name(c.metric) == wanted]
    return next(iter(same or (context.with_role("train_loss") if held_out.role.name == "val_loss" else [])), None)


def _another_gains(curve: Curve, held_out: Sequence[Curve]) -> bool:
    """Whether another held-out loss fell far since `curve` was lowest, or further than `curve` rose."""
    fall, _ = other_fall(curve, held_out)
    lowest, last = lowest_index(curve.values), last_level(curve.values)
    if fall >= feature_limit("other_set_fell") or lowest is None or last is None:
        return fall >= feature_limit("other_set_fell")
    rise = last - float(curve.values[lowest])
    return fall > 0 and rise < fall * abs(float(curve.values[lowest]))


def _is_of_another_set(metric: str, other: str) -> bool:
    """Whether two held-out losses may be the same measure of different sets.

    >>> _is_of_another_set("eval_old_loss", "eval_new_loss"), _is_of_another_set("val_loss", "val_rmse")
    (True, False)
    >>> _is_of_another_set("eval_loss", "eval/loss"), _is_of_another_set("eval_loss", "eval_train_loss")
    (False, False)
    """
    names, words = (normalise(metric), normalise(other)), (measure(metric).split("_"), measure(other).split("_"))
    return names[0] != names[1] and "train" not in names[1] and not set(words[0]).isdisjoint(words[1])


def _is_of_language(context: Context) -> bool:
    return context.training_kind is not None and context.training_kind.kind in OF_LANGUAGE


def _badness(pair: tuple[Curve, Gap]) -> float:
    curve, gap = pair
    falling = gap.train_fall is not None and gap.train_fall > 0
    return (gap.rise_ratio or 0.0) * (2.0 if falling else 1.0) + 1e-9 * len(curve.values)
