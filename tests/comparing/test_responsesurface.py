"""The response surface of a sweep, and the places it is evaluated at."""

import numpy as np
import pytest

from loganalyst.comparing.responsesurface import Model, along, best_place, levels_of, surface
from tests.comparing.conftest import spaced


def swept(sign: float) -> tuple[Model, np.ndarray]:
    """A grid of 11 rates and 2 widths with the best loss at rate 1e-3 and width 16, and little noise."""
    lr, width = (v.ravel() for v in np.meshgrid(10.0 ** np.linspace(-5, 0, 11), [16, 64]))
    loss = (np.log10(lr) + 3) ** 2 + (width > 16) + 0.01 * np.random.default_rng(0).standard_normal(lr.size)
    space = spaced({"lr": lr, "width": width})
    return surface(space.settings, np.arange(lr.size), sign * loss, sign), loss


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_best_place_is_where_the_objective_is_best(sign: float) -> None:
    model, _ = swept(sign)
    lr, width = (s.levels[int(i)] for s, i in zip(model.settings, best_place(model), strict=True))

    assert (lr, width) == (pytest.approx(1e-3), 16.0)


def test_predictions_are_on_the_scale_of_the_objective() -> None:
    """The transformation of far values is reversed."""
    model, loss = swept(-1.0)
    predicted = model.back(model.at(np.column_stack(model.codes)).mean(axis=0))

    np.testing.assert_allclose(predicted, -loss, atol=0.3)


def test_levels_are_thinned_evenly_with_both_ends() -> None:
    model, _ = swept(1.0)

    assert levels_of(model, 0, 3).tolist() == [0, 5, 10]
    assert levels_of(model, 0, 40).tolist() == list(range(11))


def test_places_along_a_setting_differ_in_that_setting_only() -> None:
    assert along(np.array([4, 1]), 0, np.array([0, 2])).tolist() == [[0, 1], [2, 1]]
