"""Single excursions that come back."""

import numpy as np

from loganalyst.signals import change_points
from loganalyst.signals.preparedcurve import prepare
from loganalyst.signals.spikes import spikes
from tests.signals.noisycurve import CURVE, kinds


def test_single_point_spike_at_its_exact_index():
    """One bad point that recovers at once is one spike, there and no longer."""
    values = CURVE.copy()
    values[2500] *= 3

    (found,) = change_points(values)

    assert (found.index, found.end, found.kind) == (2500, 2500, "spike")
    assert 25 < found.effect < 60
    assert 0.5 < found.significance <= 1


def test_a_spike_for_the_better_does_not_count():
    """An excursion towards better is no spike; with the direction reversed it is."""
    values = CURVE.copy()
    values[2500] /= 3

    assert kinds(values) == []
    assert (2500, "spike") in kinds(values, worse="down")


def test_long_spike_begins_where_it_rises():
    """A spike of some hundred points with a slow recovery is one finding at its first point."""
    values = CURVE.copy()
    values[2000:] *= np.exp(1.5 * np.exp(-np.arange(2000) / 30))

    assert [(i, k) for i, k in kinds(values) if k != "variance"] == [(2000, "spike")]


def test_train_of_spikes_at_every_tenth_point():
    """Spikes so frequent that they look like a heavy tail are recognised by their steady interval."""
    values = CURVE[:1000].copy()
    values[30::40] *= 3

    train = next(c for c in change_points(values, worse="up") if c.kind == "periodic")

    assert (train.index, train.end, train.effect) == (30, 990, 40.0)


def test_spans_of_single_points_and_of_many():
    """Positions are those of the prepared curve."""
    values = np.random.default_rng(1).normal(size=3000)
    values[1000] += 60
    values[2000:2003] += 60

    found = spikes(prepare(values))

    assert [(c.index, c.end) for c in found] == [(1000, 1000), (2000, 2002)]
    assert spikes(prepare(values[:6])) == []
