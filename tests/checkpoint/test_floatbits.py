"""Extremes and values from bit patterns."""

import numpy as np
import pytest
import torch

from loganalyst.checkpoint.floatbits import FloatCodes, unordered
from loganalyst.checkpoint.tensorblocks import BLOCK
from tests.checkpoint.samples import agrees, drawn, scanned


@pytest.mark.parametrize(
    ("values", "span", "largest", "smallest"),
    [
        ([-3.0, 0.5, 2.0], (-3.0, 2.0), 3.0, 0.5),
        ([-3.0, -0.5], (-3.0, -0.5), 3.0, 0.5),
        ([0.5, 2.0], (0.5, 2.0), 2.0, 0.5),
    ],
)
def test_the_extremes_of_a_block(values, span, largest, smallest):
    codes = FloatCodes("float32")
    extremes = codes.extremes(np.array(values, np.float32))

    assert codes.finite(extremes)
    assert codes.span(extremes) == span
    assert (codes.largest(extremes), codes.smallest(extremes)) == (codes.code(largest), codes.code(smallest))
    assert not codes.finite(codes.extremes(np.array([*values, -np.inf], np.float32)))


@pytest.mark.parametrize("count", [5, 6])
def test_all_values_of_a_block_are_decoded_in_any_order(count):
    values = np.array([1.5, -2.0, 0.0, 65504.0, 2.0**-24, -0.25][:count], np.float16)

    assert sorted(unordered("float16")(values.view("<u2")).tolist()) == sorted(values.tolist())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("sign", ["above", "below", "both", "zeros", "negative zeros"])
def test_extremes_are_right_on_either_side_of_zero(sign, dtype, tmp_path):
    """Bit patterns sort in the other direction below zero."""
    x = drawn(5, 2 * BLOCK + 3).abs() + 0.01
    x = {"above": x, "below": -x, "both": drawn(5, 2 * BLOCK + 3), "zeros": x * 0, "negative zeros": x * -0.0}[sign]

    agrees(scanned(x.to(dtype), tmp_path / "x.safetensors"), x.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_values_at_the_limit_of_tiny_are_counted_exactly(dtype, tmp_path):
    """1e-8 itself is not tiny; the next smaller value of each type is."""
    limit = torch.tensor([1e-8], dtype=torch.float64).to(dtype)
    around = torch.tensor([0.0, -0.0, 1.0, -2.0], dtype=torch.float64).to(dtype)
    near = [torch.nextafter(limit, limit * 2), limit, torch.nextafter(limit, limit * 0)]
    for value in [*near, *(-v for v in near)]:
        agrees(scanned(torch.cat([around, value]), tmp_path / "x.safetensors"), torch.cat([around, value]))
