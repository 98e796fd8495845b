"""Features of a single test behind the training, compared with the held-out values that were logged during it."""

import re
from collections.abc import Sequence

from loganalyst.curves.heldoutsets import bare_name
from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.features.shares import share
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

NEEDS = "a test behind the training"
FEATURES = (
    Feature("test_loss_metric", "text", "", "loss of a single test behind the training", NEEDS),
    Feature("test_loss_last", "float", "loss", "this loss", NEEDS),
    Feature("test_over_held_out", "float", "ratio", "this loss divided by the last level of the held-out loss of the same name (positive losses only)", NEEDS),
    Feature("test_beyond_held_out", "float", "share", "this loss minus that level, as a share of the first level of the held-out loss or of the training loss, the higher one", NEEDS),
    Feature("test_accuracy_metric", "text", "", "accuracy of a single test behind the training", NEEDS),
    Feature("test_accuracy_behind", "float", "share", "last level of the held-out accuracy of the same name minus this accuracy", NEEDS),
)  # fmt: skip
_TEST = re.compile(r"(?<![a-z])test(?![a-z])")  # `test_loss`, `test/acc`, `Test loss`


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing for a measure without both a single test and a course of held-out values."""
    out: Computed = {}
    for result, course in _pair(context.with_role("val_loss")):
        out |= _loss(context, result, course)
    for result, course in _pair(context.with_role("val_accuracy")):
        last, held_out = share(result)[-1], last_level(share(course))
        out["test_accuracy_metric"] = (result.metric, witness_at(result, -1))
        out["test_accuracy_behind"] = None if held_out is None else held_out - float(last)
    return out


def _pair(curves: Sequence[Curve]) -> list[tuple[Curve, Curve]]:
    """The single test and the longest course of the same measure, as one pair; empty without both."""
    longest_test, shortest_course = feature_limit("test_values"), feature_limit("course_values")
    tests = [c for c in curves if _TEST.search(c.metric.lower()) and c.values.size <= longest_test]
    courses = [c for c in curves if not _TEST.search(c.metric.lower()) and c.values.size >= shortest_course]
    same = [(t, c) for t in tests for c in courses if bare_name(t.metric) == bare_name(c.metric)]
    return same[:1]


def _loss(context: Context, result: Curve, course: Curve) -> Computed:
    last, held_out = float(result.values[-1]), last_level(course.values)
    if held_out is None or held_out <= 0 or last <= 0:
        return {}
    firsts = [first_level(c.values) for c in (course, *context.with_role("train_loss")[:1])]
    return {
        "test_loss_metric": (result.metric, witness_at(result, -1)),
        "test_loss_last": last,
        "test_over_held_out": (last / held_out, witness_at(result, -1)),
        "test_beyond_held_out": ratio(last - held_out, max((x for x in firsts if x), default=None)),
    }
