"""Features of the global gradient norm."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import gradients
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
NAN = float("nan")
DECAY = (np.exp(-np.arange(200) / 40) + 0.1).tolist()


def test_the_correlation_of_the_norm_with_the_step(features_of: FeaturesOf) -> None:
    """1 for a rising line, -1 for a falling one, far below 1 for curves."""
    steps = np.arange(200.0)
    level, shot = 1 - np.exp(-steps / 20), np.exp(steps / 20)
    curves = {"up": 1 + steps, "down": 300 - steps, "levels off": level, "shoots up": shot}
    found = {name: features_of({"grad_norm": x.tolist()}).values["grad_norm_straight"] for name, x in curves.items()}

    assert (found["up"], found["down"]) == pytest.approx((1.0, -1.0))
    assert found["levels off"] == pytest.approx(np.corrcoef(steps, level)[0, 1])
    assert found["shoots up"] == pytest.approx(np.corrcoef(steps, shot)[0, 1])


@pytest.mark.parametrize("values", [[2.0] * 200, np.arange(19.0).tolist(), [float("nan")] * 200])
def test_a_constant_or_few_values_have_no_correlation(features_of: FeaturesOf, values: list[float]) -> None:
    """Nor has a norm without finite values."""
    assert features_of({"grad_norm": values}).values["grad_norm_straight"] is None


@pytest.mark.parametrize(
    ("norms", "share"), [([50.0, 100.0, 20.0, 2.0], 1.0), ([5.0, 4.0, 2.0, 20.0], 0.25), ([0.0, 0.0], None)]
)
def test_the_first_norms_relative_to_the_largest(
    features_of: FeaturesOf, norms: list[float], share: float | None
) -> None:
    """Norms that are all 0 have no share."""
    assert features_of({"grad_norm": norms}).values["grad_norm_start_share"] == share


def test_masked_nan(features_of: FeaturesOf) -> None:
    """The gradient norm may be NaN while the loss is clean."""
    row = features_of({"loss": DECAY, "grad_norm": [*[1.0] * 150, *[NAN] * 50]})

    assert row.values["train_loss_nonfinite_count"] == 0
    assert row.values["grad_norm_nonfinite_step"] == 150


def test_a_norm_of_0_throughout_a_training_that_learns_was_not_computed(features_of: FeaturesOf) -> None:
    """Megatron-LM prints `grad norm: 0.000` then. Without learning the zeros are real."""
    assert "grad_norm_points" not in {
        k for k, v in features_of({"loss": DECAY, "grad_norm": [0.0] * 200}).values.items() if v
    }
    assert features_of({"loss": [2.0] * 200, "grad_norm": [0.0] * 200}).values["grad_norm_points"] == 200


INF = float("inf")


@pytest.mark.parametrize(
    ("norms", "scale", "overflows"),
    [
        ([1.0] * 8, [4.0] * 8, False),
        ([1.0] * 5 + [INF] + [1.0] * 6, [4.0] * 5 + [2.0] * 7, True),
        ([1.0] * 5 + [INF] + [1.0] * 6, [4.0] * 6 + [2.0] * 6, True),  # the new scale is logged with the next step
        ([1.0] * 5 + [INF] + [1.0] * 6, [4.0] * 9 + [2.0] * 3, False),
        ([1.0] * 10 + [INF] * 2, [4.0] * 10 + [2.0, 1.0], True),  # the last steps
        ([1.0] * 4 + [INF] * 8, [4.0] * 4 + [2.0 / 2**i for i in range(8)], False),  # a collapse
        ([INF] * 3 + [1.0] * 9, None, True),  # the search for the first scale
        ([INF] * 9 + [1.0] * 3, None, False),
        ([1.0] * 10 + [INF] * 2, None, False),
        ([NAN] * 12, None, False),
        ([NAN] * 12, [2.0**-i for i in range(12)], False),
    ],
)
def test_norms_that_a_dynamic_loss_scale_explains(
    features_of: FeaturesOf, norms: list[float], scale: list[float] | None, overflows: bool
) -> None:
    curves = {"loss": [2.0 - i / 8 for i in range(len(norms))], "grad_norm": norms} | (
        {"loss_scale": scale} if scale else {}
    )
    assert features_of(curves).values["grad_norm_overflows"] is overflows


def test_squared_norms_are_converted(features_of: FeaturesOf) -> None:
    """A squared gradient norm is judged by its root."""
    assert features_of({"grad_norm_square": [4.0] * 20}).values["grad_norm_median"] == 2.0


def test_single_nonfinite_gradients_of_mixed_precision(features_of: FeaturesOf) -> None:
    """Skipped steps are few and do not last; a lasting NaN is an event."""
    skipped = features_of({"loss": DECAY, "grad_norm": [float("inf"), *[1.0] * 99, NAN, *[1.0] * 99]}).values
    lost = features_of({"loss": DECAY, "grad_norm": [*[1.0] * 100, *[NAN] * 100]}).values

    assert (skipped["grad_norm_nonfinite_share"], skipped["grad_norm_ends_nonfinite"]) == (0.01, False)
    assert (lost["grad_norm_nonfinite_share"], lost["grad_norm_ends_nonfinite"]) == (0.5, True)


def test_norms_that_are_printed_only_where_they_are_not_finite(features_of: FeaturesOf) -> None:
    """ESPnet writes `The grad norm is nan. Skipping updating the model.`; at the other steps it was finite."""
    norms = {"session": 0, "metric": "grad_norm", "step": [40, 90], "value": [NAN, NAN], "source": "m.csv"}
    rare = features_of({"loss": DECAY}, points=table("points", norms)).values

    assert (rare["grad_norm_nonfinite_share"], rare["grad_norm_ends_nonfinite"]) == (0.01, False)


def test_clipped_share(features_of: FeaturesOf) -> None:
    """Norms at or above the configured threshold, otherwise norms at the largest value."""
    norms = [0.5] * 60 + [1.0] * 20 + [7.0] * 20
    after = [0.5] * 60 + [1.0] * 20 + [0.9999] * 20

    assert features_of({"grad_norm": norms}, config={"max_grad_norm": 1.0}).values["grad_clipped_share"] == 0.4
    assert features_of({"grad_norm": norms}).values["grad_clipped_share"] == 0.2
    assert features_of({"grad_norm": after}).values["grad_clipped_late_share"] == 0.8
    assert features_of({"grad_norm": after[:10]}).values["grad_clipped_share"] is None


def test_single_high_norms_differ_from_an_explosion(features_of: Callable[..., Features]) -> None:
    """Three single points of 100 medians are three stretches of one; 20 in a row are one of 20."""
    single, stretch = np.ones(200), np.ones(200)
    single[[50, 100, 150]], stretch[100:120] = 100.0, 100.0
    rows = [features_of({"grad_norm": x.tolist()}).values for x in (single, stretch, np.ones(200))]

    assert [r["grad_norm_high_runs"] for r in rows] == [3, 1, 0]
    assert [r["grad_norm_high_run"] for r in rows] == [1, 20, 0]


def test_a_norm_that_is_printed_as_zero(features_of: FeaturesOf) -> None:
    """Among norms like 0.004 a 0.000 is not known to be 0; among norms like 1.2 it is."""
    small = [round(0.0052 * 0.98**i, 3) for i in range(200)]
    large = [round(1.2 + 0.001 * (i % 97), 3) for i in range(100)] + [0.0] * 100
    unknown, known = features_of({"grad_norm": small}).values, features_of({"grad_norm": large}).values

    assert [unknown[f"grad_norm_{name}"] for name in ("zero_share", "last", "shrink_ratio")] == [None, None, None]
    assert [known[f"grad_norm_{name}"] for name in ("zero_share", "last", "shrink_ratio")] == [0.5, 0.0, 0.0]


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert gradients.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
