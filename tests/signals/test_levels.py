"""Level shifts."""

import numpy as np
import pytest

from loganalyst.signals.levels import levels
from loganalyst.signals.preparedcurve import prepare
from tests.signals.noisycurve import CURVE, T, kinds


@pytest.mark.parametrize(("factor", "kind"), [(1.35, "level_up"), (0.7, "level_down")])
def test_level_shift_at_its_exact_index(factor, kind):
    """A jump that stays is a level shift at the first point of the new level."""
    values = CURVE * np.where(T >= 2600, factor, 1.0)

    assert [(2600, kind)] == kinds(values)


def test_a_shift_has_its_size_in_noise_units():
    values = np.random.default_rng(1).normal(size=1000) + np.where(T[:1000] >= 600, 20.0, 0.0)

    (found,) = levels(prepare(values))

    assert (found.index, found.end, found.kind) == (600, None, "level_up")
    assert levels(prepare(values[:600])) == []
