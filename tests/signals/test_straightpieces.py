"""Costs of straight pieces in AR(1) noise."""

import numpy as np
import pytest

from loganalyst.signals.straightpieces import Pieces

NOISE = np.random.default_rng(2).normal(0, 1.0, 200)


def test_the_cost_of_a_piece_is_its_residual_sum_of_squares():
    """The first point of a piece is free."""
    levels = Pieces(NOISE, 0.0, lines=False)
    inside = NOISE[11:50]

    cost = levels.cost(np.array([10]), np.array([50]))[0]

    assert cost == pytest.approx(float(((inside - inside.mean()) ** 2).sum()))


def test_a_straight_line_costs_nothing_as_a_line():
    ramp = np.linspace(0, 10, 200)

    assert Pieces(ramp, 0.0, lines=True).whole([]) == pytest.approx(0.0, abs=1e-6)
    assert Pieces(ramp, 0.0, lines=False).whole([]) > 100


def test_a_cut_at_a_jump_gains_more_than_its_price():
    jump = NOISE + np.where(np.arange(200) >= 120, 5.0, 0.0)
    levels = Pieces(jump, 0.0, lines=False)
    gain = levels.misfit(levels.whole([])) - levels.misfit(levels.whole([120]))

    assert gain > 10 * levels.price
    assert levels.price == pytest.approx(4 * np.log(200))
