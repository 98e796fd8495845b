"""Features of the terms of a loss."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from loganalyst.features import components
from loganalyst.model import Features
from tests.curves.curvesof import curves_of

FeaturesOf = Callable[..., Features]


def test_a_stuck_term(features_of: FeaturesOf) -> None:
    """A term that stays while another falls far is named, with its share of the total."""
    fall = (np.exp(-np.arange(200) / 20) + 1e-4).tolist()
    row = features_of({"loss": [a + 0.3 for a in fall], "residual_loss": fall, "boundary_loss": [0.3] * 200})

    assert row.values["component_stuck_metric"] == "boundary_loss"
    assert row.values["component_stuck_share"] == pytest.approx(0.3 / 0.30014, rel=1e-3)
    assert row.values["component_stuck_ratio"] == 1.0


def test_the_weight_of_the_largest_term() -> None:
    """It is compared with the median weight of the others."""
    terms = [
        replace(curve, weight=w)
        for curve, w in zip(curves_of({"a": [1.0], "b": [1.0], "c": [1.0]}), (2.0, 500.0, 0.5), strict=True)
    ]

    assert components._weight_ratio(terms, 1) == pytest.approx(400)
    assert components._weight_ratio(terms[:1] + terms[2:], 0) == pytest.approx(4)
    nothing = [replace(curve, weight=0.0) for curve in terms]
    assert components._weight_ratio([terms[1], nothing[0]], 0) is None
    assert components._weight_ratio(terms[:1], 0) is None


def test_with_a_negative_term_no_term_has_a_share(features_of: FeaturesOf) -> None:
    """A critic's loss falls without limit: it is not stuck, and its size gives no shares."""
    critic, recon = -np.geomspace(0.01, 100, 40), np.linspace(0.02, 0.01, 40)

    row = features_of({"loss_encoder": critic, "loss_decoder": recon, "loss_pixels": recon}).values
    assert (row["component_count"], row["component_stuck_metric"], row["component_zero_count"]) == (None, None, 0)


def test_a_term_far_above_the_total_is_not_part_of_it(features_of: FeaturesOf) -> None:
    """A divergence of 220 with a total of 0.1 was logged without its weight."""
    recon = np.geomspace(3.5, 0.03, 40)
    watched = {"loss_recon": recon, "loss_mmd": np.full(40, 0.02), "loss_kl": np.full(40, 220.0)}

    row = features_of({"loss_vae": recon + 0.05, **watched}).values
    assert (row["component_count"], row["component_top_metric"]) == (2, "loss_recon")
    assert features_of(watched).values["component_top_metric"] == "loss_kl"


def test_constant_terms(features_of: FeaturesOf) -> None:
    """One term is 0, one is constant, one falls."""
    falling = np.linspace(1, 0.1, 40)
    row = features_of({"loss_a": falling, "loss_b": [0.0] * 40, "loss_c": [*falling[:15], *[0.3] * 25]}).values

    assert (row["component_zero_count"], row["component_zero_metric"]) == (1, "loss_b")
    assert (row["component_constant_count"], row["component_constant_metric"]) == (1, "loss_c")
    assert features_of({"loss_a": falling, "loss_b": falling}).values["component_zero_count"] == 0
    assert features_of({"loss_a": [0.0] * 5}).values["component_zero_count"] is None


def test_a_term_below_its_last_digit_is_not_zero(features_of: FeaturesOf) -> None:
    """0.02 that falls to 0.000 is small; 1.5 that drops to 0.000 at once is 0, and so is a term that never was more."""
    small = [round(0.021 * 0.95**i, 3) for i in range(100)]
    gone = [round(1.5 + 0.001 * (i % 37), 3) for i in range(50)] + [0.0] * 50

    counts = [
        features_of({"cls_loss": [1.0 / (i + 3) for i in range(100)], "box_loss": term}).values["component_zero_count"]
        for term in (small, gone, [0.0] * 100)
    ]
    assert counts == [0, 1, 1]


def test_a_term_that_fell_and_returned_is_not_stuck(features_of: FeaturesOf) -> None:
    """It was learned once; a term that never fell was not."""
    falling = np.geomspace(2.0, 0.02, 100)
    lost = np.concatenate([np.geomspace(2.0, 0.1, 80), np.full(20, 1.8)])
    row = features_of({"loss_a": falling, "loss_b": lost}).values

    assert row["component_stuck_share"] == 0.0
    never = features_of({"loss_a": falling, "loss_b": np.full(100, 1.8)}).values
    assert (never["component_stuck_metric"], never["component_stuck_ratio"]) == ("loss_b", 1.0)


def test_a_term_without_finite_values_has_no_lowest_level() -> None:
    """As with an infinite weight; the other terms have one."""
    lowest = components._lowest(np.array([[np.inf] * 4, [3.0, 2.0, 1.0, 2.0]]))

    assert np.isnan(lowest[0])
    assert lowest[1] == 1.0


def test_a_term_is_drowned_by_its_usual_share(features_of: FeaturesOf) -> None:
    """Although its share is larger at the end, after the other term has fallen."""
    large = np.concatenate([np.full(90, 1000.0), np.full(10, 30.0)])
    row = features_of({"loss_a": large, "loss_b": np.full(100, 2.0)}).values

    assert (row["component_drowned_count"], row["component_drowned_metric"]) == (1, "loss_b")
    assert row["component_top_share"] == 30 / 32
    assert features_of({"loss_a": large[::-1], "loss_b": np.full(100, 20.0)}).values["component_drowned_count"] == 1
    assert (
        features_of({"loss_a": np.full(100, 30.0), "loss_b": np.full(100, 2.0)}).values["component_drowned_count"] == 0
    )
