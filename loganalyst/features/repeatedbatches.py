"""Whether high losses come from the same batch or shard of the data, if the run logs its number."""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import normalise
from loganalyst.features.context import Computed, Context, median
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

NEEDS = "a logged number of the batch or shard"
FEATURES = (
    Feature("spike_source_metric", "text", "", "logged number of the batch or shard that most high losses have in common", NEEDS),
    Feature("spike_source_id", "int", "", "this number (NULL: high losses have no number in common)", NEEDS),
    Feature("spike_source_count", "int", "points", "high losses that have this number", NEEDS),
    Feature("spike_source_of", "int", "points", "high losses with a number", NEEDS),
    Feature("spike_source_share", "float", "share", "share of the other losses that have this number", NEEDS),
)  # fmt: skip
# "batch_id", "data/shard_idx", "file_index"
NAME = re.compile(r"(?:^|_)(?:batch|shard|file|chunk|sample|bucket)_(?:id|idx|index|no|number)$|(?:^|_)shard$")
WINDOW = 21  # values around one, whose median is its level
MIN_POINTS = 50


class _Common(NamedTuple):
    """A number that `high` of the `of` high losses have, and the share `others` of the other losses."""

    metric: str
    number: int
    high: int
    of: int
    others: float


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no number is logged or no loss is high."""
    loss = next(iter(context.with_role("train_loss")), None)
    numbers = [c for c in context.curves if NAME.search(normalise(c.metric)) and len(c.values)]
    if loss is None or not numbers or loss.values.size < MIN_POINTS:
        return {}
    high = _high(loss.values)
    found = [part for c in numbers if (part := _common(loss, high, c)) is not None]
    if not found:
        return {}
    best = max(found, key=lambda part: part.high)
    return {
        "spike_source_metric": best.metric,
        "spike_source_id": best.number,
        "spike_source_count": best.high,
        "spike_source_of": best.of,
        "spike_source_share": best.others,
    }


def _high(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The values far above the median of those around them."""
    known = np.where(np.isfinite(x), x, np.nanmedian(x[np.isfinite(x)]) if np.isfinite(x).any() else 0.0)
    padded = np.pad(known, WINDOW // 2, mode="reflect")
    level = np.median(np.lib.stride_tricks.sliding_window_view(padded, WINDOW), axis=1)
    apart = known - level
    noise = 1.4826 * median(np.abs(apart))  # of a normal distribution, from the median deviation
    limit = np.maximum(
        (feature_limit("loss_far_above_level") - 1) * np.abs(level), feature_limit("stretch_noise") * noise
    )
    return np.asarray(apart > limit)


def _common(loss: Curve, high: NDArray[np.bool_], numbers: Curve) -> _Common | None:
    """The number that most high losses have, unless other losses have it nearly as often."""
    _, at, of = np.intersect1d(loss.steps, numbers.steps, return_indices=True)
    ids, above = numbers.values[of], high[at]
    whole = np.isfinite(ids) & (ids == np.floor(ids))
    ids, above = ids[whole], above[whole]
    if above.sum() < feature_limit("repeated_batch") or above.all():
        return None
    values, counts = np.unique(ids[above], return_counts=True)
    most = int(np.argmax(counts))
    share, others = counts[most] / above.sum(), float((ids[~above] == values[most]).mean())
    common = counts[most] >= feature_limit("repeated_batch") and share >= feature_limit("repeated_batch_share")
    if not common or others * 3 > share:
        return None
    return _Common(numbers.metric, int(values[most]), int(counts[most]), int(above.sum()), others)
