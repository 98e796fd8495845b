"""Features of training in fp8."""

from collections.abc import Callable

import pytest

from loganalyst.features import fp8
from loganalyst.features.context import Context


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"fp8": "hybrid", "fp8_recipe": "delayed", "fp8_amax_history_len": 1}, ("hybrid", 1.0)),
        ({"fp8": "None", "fp8_amax_history_len": 1}, (None, None)),
        ({"model.precision": "transformer-engine-fp8"}, ("fp8", None)),
        ({"precision": "bf16"}, (None, None)),
    ],
)
def test_the_format_and_the_history(
    context_of: Callable[..., Context], settings: dict[str, object], expected: tuple[object, object]
) -> None:
    """A history counts only where fp8 is on."""
    row = fp8.compute(context_of({"loss": [2.0, 1.5, 1.0]}, config=settings))

    assert (row["config_fp8"], row["config_fp8_history"]) == expected
