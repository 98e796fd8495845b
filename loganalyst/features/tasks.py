"""Which curves are one measure of several tasks or held-out sets: `acc_T1`, `acc_T2`; `mmlu`, `gsm8k`."""

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst import signals
from loganalyst.curves.metricnames import names_held_out, normalise
from loganalyst.curves.rolefile import role_file
from loganalyst.features.context import Context
from loganalyst.features.judgedscores import is_one_sided
from loganalyst.features.shares import as_shares, share
from loganalyst.model import Curve
from loganalyst.thresholds import feature_limit

ROLE, UNNAMED_ROLE, SCORE, UNKNOWN = "val_accuracy", "train_accuracy", "val_score", "other"
MIN_POINTS = 6  # finite values of each of several accuracies
MIN_STAGE_POINTS = 1  # of each where every task has its own stage: the last one may have been evaluated once
MIN_BENCHMARK_POINTS = 4
_SAME_SUM = 1e-6  # spread of the sum of shares of one whole, beside their rounding
TASK_NAME_WORDS = 2  # "eval pick"; longer names are about other things
_MAX_FAMILIES = 3  # the largest ones are asked
_NUMBER = re.compile(r"\d+")


def groups(context: Context) -> list[list[Curve]]:
    """Groups of two or more curves, of which each is the same measure of another task or set."""
    held_out = _long(context.with_role(ROLE), MIN_POINTS)
    # accuracies of several tasks need not say that they are held out: `acc_task_a`, `acc_task_b`
    accuracies = held_out if len(held_out) > 1 else _long(context.with_role(UNNAMED_ROLE), MIN_POINTS)
    found = [accuracies, *_staged(context), *_of_unknown_sets(context)]
    return [group for group in found if len(group) > 1]


def benchmarks(context: Context) -> tuple[list[Curve], list[Curve]]:
    """The curves of public benchmarks, and all held-out scores with as many values."""
    scores = [c for c in context.with_role(ROLE, SCORE) if not is_one_sided(c)]
    scores = _long([*scores, *filter(is_benchmark, context.with_role(UNNAMED_ROLE))], MIN_BENCHMARK_POINTS)
    return [c for c in scores if is_benchmark(c)], scores


def of_two_sets(context: Context) -> list[list[Curve]]:
    """Held-out scores whose names differ in the word for their data only: `val_auc` and `external_auc`. `bal_acc` is
    another measure of the same data as `acc`.
    """
    curves = _long([c for c in context.with_role(ROLE, SCORE) if not is_one_sided(c)], MIN_BENCHMARK_POINTS)
    found = defaultdict[tuple[str, ...], list[Curve]](list)
    for curve in curves:
        words = normalise(curve.metric).split("_")
        rest = tuple(word for word in words if not _names_set(word))
        if 0 < len(rest) < len(words):
            found[rest].append(curve)
    return [group for group in found.values() if len(group) == 2]


def _names_set(word: str) -> bool:
    """Whether a word is for held-out data: `val`, `external`, `holdoutb`."""
    return names_held_out(word) or word.startswith(tuple(role_file().words["second_set"]))


def is_benchmark(curve: Curve) -> bool:
    """Whether a metric is named after a public test of language models, and is not of its training part."""
    words = set(normalise(curve.metric).split("_"))
    return not words.isdisjoint(role_file().words["benchmark"]) and "train" not in words


def begins_later(group: Sequence[Curve]) -> bool:
    """Whether the metrics of a group begin at different times and so have different numbers of values, as each does
    whose task has its own stage. Lines of one evaluation begin at different places, too.
    """
    begins = {(int(c.steps[0]), int(c.lines[0])) for c in group}
    return len(begins) == len(group) == len({c.values.size for c in group})


def shares(curve: Curve) -> NDArray[np.float64]:
    """The values as shares of 1, also of scores in per cent."""
    return as_shares(curve.values) if curve.role.name == SCORE else share(curve)


def _long(curves: Sequence[Curve], least: int) -> list[Curve]:
    return [c for c in curves if np.isfinite(c.values).sum() >= least]


def _staged(context: Context) -> list[list[Curve]]:
    """Accuracies and scores whose names differ in one word or number, and that begin one after another."""
    curves = context.with_role(ROLE, UNNAMED_ROLE, SCORE, UNKNOWN)
    families = _families([c for c in curves if _may_be_share(c)])
    staged = [family for family in families if len(family) > 2 and begins_later(family)]
    return [_long(family, MIN_STAGE_POINTS) for family in staged]


def _of_unknown_sets(context: Context) -> list[list[Curve]]:
    """Metrics named by a word for held-out data and a task: `eval_pick`, `eval_insert`. Two of them at least were learned,
    and they are no shares of one whole.
    """
    curves = [c for c in context.with_role(UNKNOWN) if _is_named_by_task(c) and _is_share(c)]
    families = _families(_long(curves, MIN_POINTS))
    return [f for f in families if sum(map(_was_learned, f)) > 1 and not _are_parts(f)]


def _is_named_by_task(curve: Curve) -> bool:
    words = normalise(curve.metric).split("_")
    return len(words) == TASK_NAME_WORDS and names_held_out(words[0])


def _is_share(curve: Curve) -> bool:
    x = curve.values[np.isfinite(curve.values)]
    return x.size > 0 and bool(x.min() >= 0 and x.max() <= 1)


def _was_learned(curve: Curve) -> bool:
    x = curve.values[np.isfinite(curve.values)]
    return float(x.max() - x[0]) > feature_limit("task_learned")


def _may_be_share(curve: Curve) -> bool:
    """Whether all values are shares of 1, or of 100 per cent, and are no constant."""
    x = curve.values[np.isfinite(curve.values)]
    constant = x.size > 1 and float(x.max()) == float(x.min()) != 0.0
    return x.size > 0 and bool(x.min() >= 0 and x.max() <= 100) and not constant


def _are_parts(family: Sequence[Curve]) -> bool:
    """Whether the curves have the same sum at all steps, apart from rounding, as parts of one whole do."""
    if any(not np.array_equal(c.steps, family[0].steps) for c in family):
        return False
    sums = np.sum([c.values for c in family], axis=0)
    rounded = sum(signals.quantum(c.values) for c in family)
    return bool(np.ptp(sums) <= rounded + _SAME_SUM)


def _families(curves: Sequence[Curve]) -> list[list[Curve]]:
    """The curves whose names differ in one word, `eval_pick` and `eval_insert`, or in numbers: `T1` and `T2`."""
    found = defaultdict[tuple[str, ...], list[Curve]](list)
    for curve in curves:
        words = normalise(curve.metric).split("_")
        found[tuple(_NUMBER.sub("#", word) for word in words)].append(curve)
        for place in range(len(words)):
            found[*words[:place], "", *words[place + 1 :]].append(curve)
    families = [family for rest, family in found.items() if any(rest) and len(family) > 1]
    return sorted(families, key=len, reverse=True)[:_MAX_FAMILIES]
