"""The fit of a response surface."""

import numpy as np

from loganalyst.comparing import surfacefit, surfaceterms
from tests.comparing.conftest import searched, spaced


def test_the_gradient_of_the_likelihood_is_that_of_its_differences():
    space, loss = searched(5, 30)
    bases = [surfaceterms.basis(s, s.codes) for s in space.settings]
    effects = surfaceterms.main_effects(bases, [s.codes for s in space.settings])
    columns = np.column_stack([e.values for e in effects])
    columns -= columns.mean(axis=0)
    y = loss - loss.mean()
    groups = np.repeat(np.arange(len(effects)), [e.prior.size for e in effects])
    problem = surfacefit.Problem(
        columns.T @ columns, columns.T @ y, float(y @ y), y.size, groups, np.ones(len(effects))
    )
    at = np.log(np.array([0.2, 0.1, 0.05, 0.3, 0.01, 0.2]))
    steps = 1e-5 * np.eye(at.size)
    differences = [
        (surfacefit._misfit(at + h, problem)[0] - surfacefit._misfit(at - h, problem)[0]) / 2e-5 for h in steps
    ]

    np.testing.assert_allclose(surfacefit._misfit(at, problem)[1], differences, rtol=1e-4, atol=1e-6)


def test_the_residuals_are_those_of_the_fitted_terms():
    """With little noise the fit explains nearly all of a straight line."""
    (setting,) = spaced({"width": np.repeat(np.arange(1.0, 6.0), 6)}).settings
    effects = surfaceterms.main_effects([surfaceterms.basis(setting, setting.codes)], [setting.codes])
    y = np.repeat(np.linspace(-1.4, 1.4, 5), 6) + 0.01 * np.random.default_rng(0).standard_normal(30)
    found = surfacefit.fit(y, effects)

    assert np.abs(surfacefit.left_over(found, y)).max() < 0.05
    assert found.noise < 0.001
    assert found.slices() == [slice(0, 4)]
    assert found.draws(7).shape == (7, 4)
