"""A loss that returns to its start and falls again as it did there."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import relearning
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
FALL = 0.2 + 2.0 * np.exp(-np.arange(100) / 25)


def values_of(found: Features) -> dict[str, object]:
    return {name.removeprefix("relearn_"): found.values[name] for name in found.values if name.startswith("relearn_")}


def test_a_repeated_start(features_of: FeaturesOf) -> None:
    """100 points and then their first 60 again: the jump, all the way back, and no mismatch."""
    found = features_of({"loss": [*FALL, *FALL[:60]]})
    depth = FALL[1] - np.median(FALL[97:100])

    assert values_of(found) == {
        "count": 1,
        "step": 100,
        "start_share": pytest.approx(1.0),
        "points": 60,
        "fall_share": pytest.approx((FALL[1] - FALL[58]) / depth),
        "again_share": 1.0,
        "mismatch": 0.0,
    }
    assert found.witnesses["relearn_step"].step == 100


def test_another_fall_has_a_mismatch(features_of: FeaturesOf) -> None:
    """Back to the start, and from there along another curve."""
    values = features_of({"loss": [*FALL, *(1.2 + np.exp(-np.arange(60) / 200))]}).values

    assert values["relearn_count"] == 1
    assert values["relearn_mismatch"] > 0.3


def test_a_level_that_stays_is_no_new_fall(features_of: FeaturesOf) -> None:
    """Back to the start, and there to the end."""
    stays, falls = (features_of({"loss": [*FALL, *more]}).values for more in ([FALL[0]] * 60, FALL[:60]))

    assert (stays["relearn_count"], stays["relearn_again_share"]) == (1, 0.0)
    assert falls["relearn_again_share"] == pytest.approx(1.0)


def test_folds_are_several_jumps(features_of: FeaturesOf) -> None:
    """Five folds in a row return four times."""
    assert features_of({"loss": np.tile(FALL, 5).tolist()}).values["relearn_count"] == 4


def test_a_steady_fall_or_rise_has_no_jump(features_of: FeaturesOf) -> None:
    """0 means searched and none found; few points, or steps that restart, are not searched."""
    assert values_of(features_of({"loss": FALL.tolist()}))["count"] == 0
    assert values_of(features_of({"loss": np.linspace(0, 1, 50).tolist()}))["count"] == 0
    assert set(values_of(features_of({"loss": FALL[:9].tolist()})).values()) == {None}
    assert set(values_of(features_of({"accuracy": FALL.tolist()})).values()) == {None}


@pytest.mark.parametrize(("epochs", "count"), [([1, 1, 2], None), ([1, 1, 1.6], 1), ([1, 2, 3], 1)])
def test_each_pass_may_fall_alike(features_of: FeaturesOf, epochs: list[float], count: int | None) -> None:
    """If the second pass begins at the jump, the first alone shows nothing; later passes do."""
    epoch = np.repeat(epochs, [50, 50, 60]).tolist()
    loss = [*FALL, *FALL[:60]]
    points = table("points", {"session": 0, "metric": "loss", "step": range(160), "epoch": epoch, "value": loss})

    assert features_of({}, points=points).values["relearn_count"] == count


@pytest.mark.parametrize(("held_out", "count"), [([3.0, 2.4, 2.0, 2.8, 2.2], 1), ([3.0, 2.4, 2.0, 2.0, 1.9], None)])
def test_a_held_out_loss_that_jumps_with_a_pass_shows_a_new_start(
    features_of: FeaturesOf, held_out: list[float], count: int | None
) -> None:
    """At step 50 a pass begins. The held-out loss rose from 2.0 to 2.8, by 80 % of its fall from 3.0; or it fell on."""
    at = [10, 25, 45, 55, 75]
    loss = [*FALL[:50], *FALL[:30]]
    names = ["loss"] * 80 + ["val_loss"] * 5
    steps = [*range(80), *at]
    epochs = [1.0 if step < 50 else 2.0 for step in steps]
    points = table("points", {"session": 0, "metric": names, "step": steps, "epoch": epochs, "value": loss + held_out})

    assert features_of({}, points=points).values["relearn_count"] == count


def test_nonfinite_values_are_skipped(features_of: FeaturesOf) -> None:
    """A NaN in between changes neither the jump nor the comparison."""
    loss = np.append(FALL, FALL[:60])
    loss[[40, 110]] = np.nan
    values = features_of({"loss": loss.tolist()}).values

    assert (values["relearn_step"], values["relearn_points"]) == (100, 59)
    assert values["relearn_mismatch"] == pytest.approx(0.0, abs=1e-3)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert relearning.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
