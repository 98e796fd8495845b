"""Features of tensors: dead units, still and growing weights, updates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from loganalyst.features import weights
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]


def histograms(logged: Mapping[str, Sequence[Mapping[str, float]]]) -> pl.DataFrame:
    """The `distributions` of some tensors: one row a step (0, 1, …), what is not given NULL."""
    names = ("count", "mean", "std", "min", "max", "zeros", "nonfinite")
    rows = [(metric, step, row) for metric, rows in logged.items() for step, row in enumerate(rows)]
    columns: dict[str, Any] = {name: [row.get(name) for *_, row in rows] for name in names}
    columns |= {"metric": [m for m, *_ in rows], "step": [s for _, s, _ in rows], "session": [0] * len(rows)}
    return table("distributions", columns | {"source": "m.csv"})


def tensor(norm: float, *, count: float = 100.0, zeros: float = 0.0, **more: float) -> dict[str, float]:
    """A histogram around 0 whose values have the given norm."""
    std = norm / count**0.5
    return {"count": count, "mean": 0.0, "std": std, "min": -3 * std, "max": 3 * std, "zeros": zeros, **more}


def test_norms_of_weights_show_which_layers_stand_still(features_of: FeaturesOf) -> None:
    """A layer with a gradient keeps its norm while another one moves. Constant norms alone may be rounded ones."""
    still, moving, gradient = [5.0] * 4, [5.0, 5.01, 5.02, 5.03], [0.3] * 4
    logged = {"weight_norm/enc": still, "weight_norm/head": moving}
    row = features_of({**logged, "grad_norm/enc": gradient, "grad_norm/head": gradient}).values

    assert (row["weight_layers"], row["weight_still_share"], row["weight_still_metric"]) == (2, 0.5, "weight_norm/enc")
    assert (row["weight_left_out_count"], row["weight_left_out_metric"]) == (1, "weight_norm/enc")
    assert features_of({"weight_norm/enc": still, "weight_norm/head": still}).values["weight_layers"] is None
    assert features_of({"weight_norm/head": moving}).values["weight_layers"] is None


def test_dead_units(features_of: FeaturesOf) -> None:
    """The share of zeros of the worst layer at the end and at the start; embeddings are sparse by nature."""
    dying = [tensor(1.0, zeros=z) for z in (10.0, 40.0, 90.0)]
    logged = {
        "grad/fc1.weight": dying,
        "grad/fc2.weight": [tensor(1.0)] * 3,
        "grad/embed.weight": [tensor(1.0, zeros=99.0)] * 3,
    }
    row = features_of({}, distributions=histograms(logged)).values

    assert (row["dead_share"], row["dead_share_first"], row["dead_metric"]) == (0.9, 0.1, "grad/fc1.weight")
    assert row["dead_layers_share"] == pytest.approx(0.45)


def test_a_vanished_gradient_is_not_dead(features_of: FeaturesOf) -> None:
    """Below 1e-12 TensorBoard counts small values as zeros; only exact zeros are dead."""
    tiny = {"grad/fc1.weight": [tensor(1e-13, zeros=100.0)] * 3, "grad/fc2.weight": [tensor(1.0)] * 3}
    none = {"grad/fc1.weight": [tensor(0.0, zeros=100.0)] * 3, "grad/fc2.weight": [tensor(1.0)] * 3}

    assert features_of({}, distributions=histograms(tiny)).values["dead_share"] == 0.0
    assert features_of({}, distributions=histograms(none)).values["dead_share"] == 1.0


def test_weights_that_never_change(features_of: FeaturesOf) -> None:
    """One with a gradient was left out of the optimiser; a frozen one without a gradient was not."""
    logged = {
        "parameters/a.weight": [tensor(2.0)] * 4,
        "parameters/b.weight": [tensor(2.0)] * 4,
        "parameters/c.weight": [tensor(2.0 + 0.01 * i) for i in range(4)],
        "gradients/a.weight": [tensor(1.0)] * 4,
        "gradients/b.weight": [tensor(0.0)] * 4,
        "gradients/c.weight": [tensor(1.0)] * 4,
    }
    row = features_of({}, distributions=histograms(logged)).values

    assert (row["weight_layers"], row["weight_still_share"]) == (3, pytest.approx(2 / 3))
    assert (row["weight_left_out_count"], row["weight_left_out_metric"]) == (1, "parameters/a.weight")


def test_without_gradients_left_out_weights_are_not_known(features_of: FeaturesOf) -> None:
    """Still weights are known; whether they had a gradient is not."""
    row = features_of({}, distributions=histograms({"fc/kernel_0/histogram": [tensor(2.0)] * 4})).values

    assert (row["weight_still_share"], row["weight_left_out_count"]) == (1.0, None)


def test_growing_weights(features_of: FeaturesOf) -> None:
    """The tensor that grew most."""
    logged = {"w/a.weight": [tensor(1.0 * 2**i) for i in range(4)], "w/b.weight": [tensor(1.0)] * 4}
    row = features_of({}, distributions=histograms(logged)).values

    assert (row["weight_growth_ratio"], row["weight_growth_metric"]) == (pytest.approx(4.0), "w/a.weight")


def test_updates_relative_to_weights(features_of: FeaturesOf) -> None:
    """Ratios as logged, their log10, and norms of updates divided by norms of weights."""
    logged = {
        "update_ratio/a": [1e-3] * 5,
        "update_ratio/b": [-5.0] * 5,
        "updates_norm": [0.1] * 5,
        "param_norm": [10.0] * 5,
    }
    row = features_of(logged).values

    assert row["update_ratio_median"] == pytest.approx(1e-3)
    assert (row["update_ratio_high"], row["update_ratio_high_metric"]) == (pytest.approx(1e-2), "updates_norm")


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert weights.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_how_much_is_left_of_the_norm_of_all_weights(features_of: FeaturesOf) -> None:
    """A norm that halves at each of 20 steps ends at next to nothing; three values show no level."""
    row = features_of({"weights/global_norm": [60.0 * 0.5**i for i in range(20)]}).values

    assert row["weight_norm_metric"] == "weights/global_norm"
    assert row["weight_norm_share"] < 1e-3
    assert features_of({"weight_norm": [60.0, 30.0, 15.0]}).values["weight_norm_share"] is None
