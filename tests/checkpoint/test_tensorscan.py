"""The statistics of tensors compared with torch's, from files of the real writers."""

import math

import pytest
import torch

from loganalyst.checkpoint.tensorblocks import BLOCK
from loganalyst.checkpoint.tensorscan import TINY, difference, scan
from tests.checkpoint.samples import COUNT, agrees, as_stored, drawn, scanned


@pytest.mark.parametrize("where", [0, BLOCK - 1, BLOCK, COUNT - 1])
def test_one_nan_or_inf_is_counted_wherever_it_is(where, tmp_path):
    for bad in (float("nan"), float("inf"), -float("inf")):
        x = drawn().to(torch.float32)
        x[where] = bad

        agrees(scanned(x, tmp_path / "x.safetensors"), x)


def test_a_tensor_without_a_finite_value_has_no_extremes(tmp_path):
    stats = scanned(torch.full((5,), float("nan")), tmp_path / "x.safetensors")

    assert (stats.nan, stats.min, stats.max, stats.mean, stats.std, stats.norm) == (5, None, None, None, None, None)


def test_an_empty_tensor_and_a_single_number_are_read(tmp_path):
    assert scanned(torch.zeros(0, 4), tmp_path / "x.safetensors").count == 0
    stats = scanned(torch.tensor(2.5), tmp_path / "x.safetensors")
    assert (stats.shape, stats.count, stats.mean, stats.norm) == ((), 1, 2.5, 2.5)


def test_complex_numbers_have_their_norm(tmp_path):
    x = torch.complex(drawn(1, 1000), drawn(2, 1000)).to(torch.complex64)

    for form in ("safetensors", "torch"):
        assert scanned(x, tmp_path / "x.safetensors", form).norm == pytest.approx(float(x.norm()), rel=5e-6)


@pytest.mark.parametrize("width", [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_dead_rows_are_counted_across_blocks(width, tmp_path):
    x = torch.ones(5, width)
    x[[0, 3]] = 0.0
    x[1] = 0.0
    x[1, -1] = 1.0  # alive by its last number

    assert scanned(x, tmp_path / "x.safetensors").dead_rows == 2


def test_views_are_read_as_their_values(tmp_path):
    """Transposed, sliced, expanded and overlapping tensors, as torch saves them."""
    base = drawn(3, 600).to(torch.float32).reshape(20, 30)
    agrees(scanned(base.t(), tmp_path / "t.pt", "torch"), base)
    agrees(scanned(base[5:7], tmp_path / "s.pt", "torch"), base[5:7])
    wide = scanned(torch.tensor([3.0]).expand(10**6, 10**6), tmp_path / "e.pt", "torch")
    assert (wide.min, wide.max, wide.shape) == (3.0, 3.0, (10**6, 10**6))
    assert scanned(torch.zeros(4).expand(10**15, 4), tmp_path / "z.pt", "torch").dead_rows == 0  # no list of 10^15
    windows = scanned(drawn(4, 1000).unfold(0, 500, 1), tmp_path / "w.pt", "torch")
    assert windows.max == float(drawn(4, 1000).max())


def test_the_limit_of_tiny_values_can_be_given():
    values = as_stored("w", torch.tensor([0.0, 1e-9, 1e-7, 1.0]))

    assert (TINY, scan(values).tiny, scan(values, tiny=1e-6).tiny, scan(values).zeros) == (1e-8, 2, 3, 1)


def test_the_difference_of_two_tensors():
    old, new = as_stored("w", torch.tensor([3.0, 4.0])), as_stored("w", torch.tensor([3.0, 0.0]))
    found = difference(old, new)

    assert (found.relative, found.cosine, found.equal) == (0.8, 0.6, False)
    assert difference(old, old).equal
    assert difference(as_stored("w", torch.zeros(2)), old).relative == math.inf
    assert difference(old, as_stored("w", torch.tensor([math.nan, 1.0]))).relative is None
