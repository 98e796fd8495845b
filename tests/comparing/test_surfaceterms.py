"""The basis functions and the marginal likelihood of a response surface."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.comparing import surfaceterms
from tests.comparing.conftest import spaced


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
