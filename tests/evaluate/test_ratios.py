"""The fit of log-likelihood ratios."""

from dataclasses import replace

import numpy as np
from scipy.optimize import approx_fprime

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.evaluate.ratios import _likeliest, problem, ratios
from tests.evaluate.evaluatedruns import nan_runs


def test_the_gradient_is_that_of_the_loss(judged: Catalogue) -> None:
    """Compared with finite differences, at weights where no other item becomes the strongest."""
    labels = ["lr_too_high", "bad_data", "log_of_zero", "lr_too_high"]
    found = problem(judged, nan_runs(*labels))
    counted = np.linspace(0.5, 1.0, found.base.size)
    weights = found.judged + np.random.default_rng(0).normal(0, 0.01, found.judged.size)
    used = np.unique(found.weight)

    def loss(some: np.ndarray) -> float:
        whole = weights.copy()
        whole[used] = some
        return found.loss(whole, counted)[0]

    slope = found.loss(weights, counted)[1]
    assert np.allclose(slope[used], approx_fprime(weights[used], loss, 1e-7), atol=1e-4)
    assert np.abs(slope[used]).max() > 0.1
    assert (np.delete(slope, used) == 0).all()


def test_labels_move_weights_their_way_and_few_runs_move_none(judged: Catalogue) -> None:
    """The weight of an item grows if it was right and shrinks if it was wrong, and it keeps its sign."""

    def weight(*labels: str) -> float:
        some = nan_runs(*labels)
        found = ratios(problem(judged, some), np.ones(len(labels)))
        return found.get("lr-too-high", {}).get("nonfinite-after-run-up", (before, 0.0))[0]

    before = next(i.if_true for i in judged.rules["lr-too-high"].evidence if i.id == "nonfinite-after-run-up")

    assert weight(*["lr_too_high"] * 40) > before
    assert 0 < weight(*["bad_data"] * 40) < before
    assert weight(*["bad_data"] * 5) == before


def test_one_cause_of_a_run_is_right(judged: Catalogue) -> None:
    """The likeliest one with a right label. The others of that label, which need not hold, do not count."""
    right = np.array([True, True, False, True])

    assert _likeliest(right, [(0, -0.2), (0, -0.7), (0, -0.9), (1, -0.1)]).tolist() == [False, True, False, True]

    found = problem(judged, nan_runs("lr_too_high"))
    alone = replace(found, known=np.zeros_like(found.known))
    assert found.loss(found.judged, np.ones(found.base.size))[0] > 0
    assert alone.loss(found.judged, np.ones(found.base.size))[0] == 0
