"""Features of the modules of a model."""

from collections.abc import Callable

import pytest

from loganalyst.features import modules
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_modules_are_compared_by_their_median_layers(features_of: FeaturesOf) -> None:
    """The decoder has 1,000 times the gradient of the encoder; layers of one module are not two modules."""
    logged = {f"grad_norm/{m}.{i}": [s] * 10 for m, s in (("encoder", 0.001), ("decoder", 1.0)) for i in (0, 1)}
    row = features_of(logged).values

    assert (row["module_count"], row["module_grad_low"], row["module_grad_high"]) == (2, "encoder", "decoder")
    assert row["module_grad_ratio"] == pytest.approx(1000)
    assert features_of({"grad_norm/fc1": [1.0] * 9, "grad_norm/fc2": [9.0] * 9}).values["module_count"] is None


def test_a_module_may_be_logged_as_a_whole(features_of: FeaturesOf) -> None:
    """One norm for each of two named modules is enough; one norm each of a module and a layer is not."""
    row = features_of({"grad_norm/text_encoder": [0.002] * 10, "grad_norm/decoder": [0.5] * 10}).values
    assert (row["module_count"], row["module_is_whole"], row["module_grad_low"]) == (2, True, "text_encoder")
    assert row["module_grad_ratio"] == pytest.approx(250)
    layers = {f"grad_norm/{m}.{i}": [s] * 10 for m, s in (("encoder", 0.001), ("decoder", 1.0)) for i in (0, 1)}
    assert features_of(layers).values["module_is_whole"] is False
    assert features_of({"grad_norm/encoder": [1.0] * 9, "grad_norm/fc2": [9.0] * 9}).values["module_count"] is None


def test_a_module_without_any_gradient_is_named(features_of: FeaturesOf) -> None:
    """A zero at every step counts, a zero at the end alone does not."""
    row = features_of({"grad_norm/backbone": [0.0] * 10, "grad_norm/head": [0.5] * 10}).values
    assert (row["module_without_grad"], row["module_grad_ratio"]) == ("backbone", None)
    later = features_of({"grad_norm/backbone": [0.1] + [0.0] * 9, "grad_norm/head": [0.5] * 10}).values
    assert later["module_without_grad"] is None


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"freeze_encoder": "true"}, None),
        ({"model.frozen_modules": "[encoder, stem]"}, None),
        ({"freeze_encoder": "false"}, "encoder"),
        ({"freeze_head": "true"}, "encoder"),
    ],
)
def test_a_module_that_a_setting_freezes_lacks_nothing(
    features_of: FeaturesOf, config: dict[str, str], named: str | None
) -> None:
    logged = {"grad/encoder_norm": [0.0] * 10, "grad/head_norm": [0.5] * 10}

    assert features_of(logged, config).values["module_without_grad"] == named


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert modules.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
