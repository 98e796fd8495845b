"""Whether readings show a mostly idle device."""

from collections.abc import Callable

import pytest

from loganalyst.features import idledevice
from loganalyst.features.context import Context


@pytest.mark.parametrize(
    ("metrics", "idle"),
    [
        ({"mfu": [-100.0, 8.0, 8.0]}, True),  # nanoGPT's first reading is no reading
        ({"mfu": [0.08, 0.09, 0.07]}, True),  # shares
        ({"mfu": [42.0, 45.0, 44.0]}, False),
        ({"gpu_util": [20.0, 30.0, 40.0]}, True),
        ({"gpu_util": [95.0, 97.0, 96.0]}, False),
        ({"gpu_util": [float("nan"), float("nan")]}, False),
        ({"loss": [3.0, 2.0, 1.0]}, False),
    ],
)
def test_readings(metrics: dict[str, list[float]], idle: bool, context_of: Callable[..., Context]) -> None:
    assert idledevice.compute(context_of(metrics)) == {"device_seen_idle": idle}
