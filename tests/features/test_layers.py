"""Features of gradients by layer, from norms and from histograms."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from loganalyst.features import layers
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
STEPS = 10


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


def test_gradients_by_depth(features_of: FeaturesOf) -> None:
    """Ten times smaller with every layer towards the input; the layers are in order of their numbers."""
    row = features_of({f"grad_norm/layer{i}": [10.0 ** (i - 11)] * STEPS for i in (10, 9, 11, 8)}).values

    assert row["layer_grad_count"] == 4
    assert row["layer_grad_ratio"] == pytest.approx(1e3)
    assert row["layer_grad_min_metric"] == "grad_norm/layer8"
    assert row["layer_grad_depth_decades"] == pytest.approx(-3.0)
    assert row["layer_grad_depth_fit"] == pytest.approx(1.0)


def test_histograms_of_gradients_are_layers(features_of: FeaturesOf) -> None:
    """Their norm is that of all values; biases are left out if there are weights."""
    logged = {f"gradients/{n}": [tensor(v)] * 3 for n, v in (("a.weight", 1e-3), ("b.weight", 2.0), ("a.bias", 1e-12))}
    row = features_of({}, distributions=histograms(logged)).values

    assert row["layer_grad_count"] == 2
    assert row["layer_grad_min"] == pytest.approx(1e-3)
    assert row["layer_grad_min_metric"] == "gradients/a.weight"
    assert row["layer_grad_ratio"] == pytest.approx(2e3)


def test_the_first_layer_to_vanish(features_of: FeaturesOf) -> None:
    """Two of four layers fall a millionfold; the one that fell first is named, with its step."""
    early, late = [1.0] * 3 + [1e-6] * 17, [1.0] * 8 + [1e-6] * 12
    row = features_of(
        {
            "grad_norm/layer0": [1.0] * 20,
            "grad_norm/layer1": late,
            "grad_norm/layer2": early,
            "grad_norm/layer3": [2.0] * 20,
        }
        | {"grad_norm/layer4": [1.0] * 20}
    )

    assert row.values["layer_grad_fall_metric"] == "grad_norm/layer2"
    assert row.values["layer_grad_fall_step"] == 3
    assert row.values["layer_grad_fall_ratio"] == pytest.approx(1e-6)
    assert row.witnesses["layer_grad_fall_step"].metric == "grad_norm/layer2"


def test_layers_that_fall_together_are_converging(features_of: FeaturesOf) -> None:
    """No layer has fallen relative to the others."""
    fall = np.geomspace(1, 1e-6, 20).tolist()
    row = features_of({f"grad_norm/layer{i}": fall for i in range(3)}).values

    assert row["layer_grad_fall_ratio"] == 1.0


def test_the_first_layer_to_explode(features_of: FeaturesOf) -> None:
    """The last layer explodes at step 12, others at 14; a calm layer is not named."""
    first, then = [1.0] * 12 + [1e3, 1e4, 1e5, 1e6], [1.0] * 14 + [1e5, 1e6]
    row = features_of({"grad_norm/layer0": then, "grad_norm/layer1": [1.0] * 16, "grad_norm/layer2": first}).values

    assert row["layer_grad_rise_metric"] == "grad_norm/layer2"
    assert row["layer_grad_rise_step"] == 12
    assert row["layer_grad_rise_ratio"] == pytest.approx(1e6)


def test_the_first_layer_with_nan(features_of: FeaturesOf) -> None:
    """Which, where, and how many; none is 0, not unknown."""
    nan = float("nan")
    row = features_of({"grad_norm/layer0": [1.0] * 6 + [nan] * 4, "grad_norm/layer1": [1.0] * 5 + [nan] * 5}).values
    calm = features_of({f"grad_norm/layer{i}": [1.0] * 10 for i in range(2)}).values

    assert (row["layer_grad_nonfinite_count"], row["layer_grad_nonfinite_step"]) == (2, 5)
    assert row["layer_grad_nonfinite_metric"] == "grad_norm/layer1"
    assert (calm["layer_grad_nonfinite_count"], calm["layer_grad_nonfinite_step"]) == (0, None)


def test_without_layers_nothing_is_known(features_of: FeaturesOf) -> None:
    """Neither without histograms nor with histograms of something else."""
    row = features_of({"loss": [1.0] * 9}, distributions=histograms({"latent": [tensor(1.0)] * 3})).values

    assert {
        k for k, v in row.items() if k.startswith(("layer_", "dead", "silent", "weight_", "update_")) and v is not None
    } == set()


def test_a_gradient_norm_is_no_normalisation_layer(features_of: FeaturesOf) -> None:
    """Of `grad_norm/0.weight` and its bias, the bias is left out, although both names contain "norm"."""
    sizes = {"0.weight": 1.0, "0.bias": 1e-9, "1.weight": 0.5, "1.bias": 1e-9}
    row = features_of({f"grad_norm/{name}": [size] * 10 for name, size in sizes.items()}).values

    assert row["layer_grad_count"] == 2
    assert row["layer_grad_min_metric"] == "grad_norm/1.weight"


def test_largest_and_smallest_layer(features_of: FeaturesOf) -> None:
    """Their ratio and names."""
    row = features_of({"grad_norm/layer0.weight": [1e-9] * 20, "grad_norm/layer1.weight": [1e-1] * 20})

    assert row.values["layer_grad_ratio"] == pytest.approx(1e8)
    assert row.values["layer_grad_min_metric"] == "grad_norm/layer0.weight"


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert layers.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
