"""The basis functions and the marginal likelihood of a response surface."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.comparing import surfaceterms
from tests.comparing.conftest import searched, spaced


@given(
    levels=st.integers(2, 12).flatmap(lambda n: st.lists(st.integers(0, n - 1), min_size=12, max_size=60)),
    choice=st.booleans(),
)
def test_main_effects_are_orthonormal_under_the_levels_as_tried(levels, choice):
    """And have a mean of 0: their squared coefficients are shares of the variance."""
    if len(set(levels)) < 2:
        return
    (setting,) = spaced({"x": [f"v{v}" if choice else v**2 for v in levels]}).settings
    found = surfaceterms.basis(setting, setting.codes)

    np.testing.assert_allclose(found.weights @ found.table, 0, atol=1e-8)
    np.testing.assert_allclose(
        found.table.T @ (found.weights[:, None] * found.table), np.eye(found.prior.size), atol=1e-7
    )
    assert found.prior.sum() == pytest.approx(1)


def test_the_gradient_of_the_likelihood_is_that_of_its_differences():
    space, loss = searched(5, 30)
    bases = [surfaceterms.basis(s, s.codes) for s in space.settings]
    effects = surfaceterms.main_effects(bases, [s.codes for s in space.settings])
    columns = np.column_stack([e.values for e in effects])
    columns -= columns.mean(axis=0)
    y = loss - loss.mean()
    groups = np.repeat(np.arange(len(effects)), [e.prior.size for e in effects])
    problem = surfaceterms.Problem(
        columns.T @ columns, columns.T @ y, float(y @ y), y.size, groups, np.ones(len(effects))
    )
    at = np.log(np.array([0.2, 0.1, 0.05, 0.3, 0.01, 0.2]))
    steps = 1e-5 * np.eye(at.size)
    differences = [
        (surfaceterms._misfit(at + h, problem)[0] - surfaceterms._misfit(at - h, problem)[0]) / 2e-5 for h in steps
    ]

    np.testing.assert_allclose(surfaceterms._misfit(at, problem)[1], differences, rtol=1e-4, atol=1e-6)
