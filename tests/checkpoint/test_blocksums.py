"""Counts and sums over blocks."""

import numpy as np
import pytest
import torch

from loganalyst.checkpoint.blocksums import scanner
from loganalyst.checkpoint.tensorblocks import BLOCK
from tests.checkpoint.samples import COUNT, agrees, drawn, scanned


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_sums_of_two_blocks(dtype):
    adding = scanner(dtype, 1e-8)
    for block in ([3, 0, -1], [2]):
        adding.add(np.array(block, dtype))
    found = adding.sums()

    assert (found.finite, found.zeros, found.tiny, found.low, found.high) == (4, 1, 1, -1.0, 3.0)
    assert (found.mean, found.about_mean, found.about_zero) == (1.0, 10.0, 14.0)


@pytest.mark.parametrize(("scale", "shift"), [(1e-4, 1.0), (1e-20, 0.0), (1e-30, 0.0), (1e30, 0.0), (1e-3, -300.0)])
def test_digits_are_not_lost_to_scale_or_a_large_mean(scale, shift, tmp_path):
    """float32 alone would lose the squares of the very small and large, and the spread about a large mean."""
    x = (drawn() * scale + shift).to(torch.float32)

    agrees(scanned(x, tmp_path / "x.safetensors"), x)


def test_blocks_of_different_levels_are_put_together(tmp_path):
    x = (drawn() + torch.arange(COUNT) / BLOCK * 50).to(torch.float32)

    agrees(scanned(x, tmp_path / "x.safetensors"), x)
