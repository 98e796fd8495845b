"""What a run measures where no name says it: one quantity of the training data and of held-out data.

`train/total` and `dev/total`, or `train` and `held`: that somebody compares them on both data says that they are what
the training is for. Whether more is better, the training's own curve shows: that is the direction in which it goes.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.metricnames import measure, names_held_out, names_split, normalise
from loganalyst.curves.namedtotals import NAMES
from loganalyst.curves.roleclaims import Claim, Claims, claim
from loganalyst.curves.rolefile import Direction, role_file
from loganalyst.model import Curve
from loganalyst.thresholds import reading_limit


def changes(found: Sequence[Curve], claims: Claims) -> Claims:
    """The metrics of both data, where the run has no curve with a known role that says whether it learns; or only
    scores and errors, and one metric falls on the training data: their loss.
    """
    words = role_file().words
    known = [role for c in found if not words["objective"].isdisjoint(role := claims[c.metric].role.name.split("_"))]
    if any(not words["optimised"].isdisjoint(role) for role in known):
        return {}
    asked = [c for c in found if claims[c.metric].role.name == "other" and names_split(c.metric) and _measures(c)]
    trained = [c for c in asked if not names_held_out(c.metric)]
    held_out = [c for c in asked if names_held_out(c.metric)]
    pairs = [(c, [h for h in held_out if _is_same(c, h)]) for c in trained]
    pairs = [(c, others) for c, others in pairs if others or not measure(c.metric)]
    whole = [pair for pair in pairs if measure(pair[0].metric) in ("", *NAMES)] or pairs
    if len(whole) != 1:  # of several, one may be a term of another
        return {}
    trained_alone, others = whole[0]
    way_of = direction(trained_alone.values[np.isfinite(trained_alone.values)])
    return dict(_claimed(trained_alone, others, way_of)) if way_of < 0 or (way_of and not known) else {}


def _measures(curve: Curve) -> bool:
    """Whether the values may measure a model: not only whole numbers, and no name of an amount or a duration."""
    finite = curve.values[np.isfinite(curve.values)]
    amounts = role_file().words["amounts"]
    measured = amounts.isdisjoint(normalise(curve.metric).split("_"))
    return measured and finite.size >= reading_limit("compared_points") and bool((finite != np.rint(finite)).any())


def _is_same(trained: Curve, held_out: Curve) -> bool:
    return measure(held_out.metric) == measure(trained.metric)


def _claimed(trained: Curve, held_out: Sequence[Curve], way_of: int) -> Iterator[tuple[str, Claim]]:
    way: Direction = "rises" if way_of > 0 else "falls"
    of_training, of_others = role_file().unnamed[way]
    why = f"it {way} on the training data" + (f", and {held_out[0].metric} measures the same" if held_out else "")
    yield trained.metric, claim(of_training, why, role_file().certainty.doubted)
    for curve in held_out:
        yield curve.metric, claim(of_others, f"{trained.metric} {way}", role_file().certainty.doubted)


def direction(values: NDArray[np.float64]) -> int:
    """1 if the values rise, -1 if they fall, 0 if neither is clear."""
    third = values.size // 3
    first, last = float(np.median(values[:third])), float(np.median(values[-third:]))
    ranks = np.argsort(np.argsort(values))
    with np.errstate(invalid="ignore"):
        along = float(np.corrcoef(ranks, np.arange(values.size))[0, 1])
    if not abs(along) >= reading_limit("training_direction") or abs(last - first) < reading_limit(
        "training_change"
    ) * abs(first):
        return 0
    return 1 if last > first else -1
