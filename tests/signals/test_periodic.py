"""Spikes at a steady interval."""

from loganalyst.model import ChangePoint
from loganalyst.signals import change_points
from loganalyst.signals.periodic import periodic
from tests.signals.noisycurve import CURVE, N


def test_periodic_spikes_have_a_period():
    """Spikes at a steady distance are reported one by one, and as a train with its period in points."""
    values = CURVE.copy()
    values[300::400] *= 3

    found = change_points(values)
    train = next(c for c in found if c.kind == "periodic")

    assert list(range(300, N, 400)) == [c.index for c in found if c.kind == "spike"]
    assert (train.index, train.end, train.effect) == (300, 3900, 400.0)


def test_a_train_reaches_from_its_first_to_its_last_spike():
    spikes = [ChangePoint(at, at, "spike", 9.0, 0.9) for at in (100, 150, 200, 250)]

    (train,) = periodic(spikes)

    assert (train.index, train.end, train.kind, train.effect) == (100, 250, "periodic", 50.0)
    assert periodic(spikes[:3]) == []
