"""The statistics of tensors against torch's own, from files that the real writers wrote."""

import numpy as np
import pytest
import safetensors.torch
import torch

import loganalyst as la
from loganalyst.checkpoint.tensorblocks import BLOCK

COUNT = 3 * BLOCK + 17  # four blocks, the last one short
TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
WHOLE = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.bool]


def scanned(tensor, path, form="safetensors"):
    path = path.with_suffix(".pt" if form == "torch" else ".safetensors")
    if form == "safetensors":
        safetensors.torch.save_file({"w": tensor}, path)
    else:
        torch.save({"w": tensor}, path)
    (found,) = la.inspect(path).checkpoints
    return found.tensors[0]


def agrees(stats, tensor):
    """Counts and extremes exactly; mean, deviation and norm to a few parts in a million."""
    x = tensor.to(torch.float64).flatten()
    finite = x[torch.isfinite(x)]
    assert (stats.count, stats.nan, stats.inf) == (x.numel(), int(x.isnan().sum()), int(x.isinf().sum()))
    assert (stats.zeros, stats.tiny) == (int((finite == 0).sum()), int((finite.abs() < 1e-8).sum()))
    assert (stats.min, stats.max) == (float(finite.min()), float(finite.max()))
    assert stats.std == pytest.approx(float(finite.std(correction=0)), rel=5e-6, abs=1e-300)
    assert stats.norm == pytest.approx(float(finite.norm()), rel=5e-6)
    assert stats.mean == pytest.approx(float(finite.mean()), rel=1e-6, abs=1e-6 * stats.std)


def drawn(seed=0, count=COUNT):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("form", ["safetensors", "torch"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_floating_type_is_decoded(dtype, form, tmp_path):
    x = drawn()
    x[[3, BLOCK + 1]] = 0.0
    x = x.to(dtype)

    stats = scanned(x, tmp_path / "x.safetensors", form)

    agrees(stats, x)
    assert stats.dtype == str(dtype).removeprefix("torch.")
    assert stats.shape == (COUNT,)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_every_whole_type_is_decoded(dtype, tmp_path):
    x = (drawn() * 40).abs().to(torch.uint8).to(dtype)

    agrees(scanned(x, tmp_path / "x.safetensors"), x)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.bfloat16], ids=str)
def test_every_bit_pattern_of_a_short_type_is_its_value(dtype, tmp_path):
    short = torch.uint8 if dtype.itemsize == 1 else torch.uint16
    x = torch.from_numpy(np.arange(1 << 8 * dtype.itemsize).astype(f"u{dtype.itemsize}")).view(short).view(dtype)
    if dtype is torch.bfloat16:  # squares of its largest pass what float64 sums compare well
        x = x[(x.float().abs() < 1e18) | ~x.float().isfinite()]

    agrees(scanned(x, tmp_path / "x.safetensors"), x)
    agrees(scanned(x[x.float().isfinite()], tmp_path / "x.safetensors"), x[x.float().isfinite()])


@pytest.mark.parametrize(("scale", "shift"), [(1e-4, 1.0), (1e-20, 0.0), (1e-30, 0.0), (1e30, 0.0), (1e-3, -300.0)])
def test_digits_are_not_lost_to_scale_or_a_large_mean(scale, shift, tmp_path):
    """float32 alone would lose the squares of the very small and large, and the spread about a large mean."""
    x = (drawn() * scale + shift).to(torch.float32)

    agrees(scanned(x, tmp_path / "x.safetensors"), x)


def test_blocks_of_different_levels_are_put_together(tmp_path):
    x = (drawn() + torch.arange(COUNT) / BLOCK * 50).to(torch.float32)

    agrees(scanned(x, tmp_path / "x.safetensors"), x)


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


def test_views_are_read_as_what_they_show(tmp_path):
    """Transposed, sliced, expanded and overlapping tensors, as torch saves them."""
    base = drawn(3, 600).to(torch.float32).reshape(20, 30)
    agrees(scanned(base.t(), tmp_path / "t.pt", "torch"), base)
    agrees(scanned(base[5:7], tmp_path / "s.pt", "torch"), base[5:7])
    wide = scanned(torch.tensor([3.0]).expand(10**6, 10**6), tmp_path / "e.pt", "torch")
    assert (wide.min, wide.max, wide.shape) == (3.0, 3.0, (10**6, 10**6))
    assert scanned(torch.zeros(4).expand(10**15, 4), tmp_path / "z.pt", "torch").dead_rows == 0  # no list of 10^15
    windows = scanned(drawn(4, 1000).unfold(0, 500, 1), tmp_path / "w.pt", "torch")
    assert windows.max == float(drawn(4, 1000).max())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("sign", ["above", "below", "both", "zeros", "negative zeros"])
def test_extremes_are_right_on_either_side_of_zero(sign, dtype, tmp_path):
    """They are read from bit patterns, whose order is another one below zero."""
    x = drawn(5, 2 * BLOCK + 3).abs() + 0.01
    x = {"above": x, "below": -x, "both": drawn(5, 2 * BLOCK + 3), "zeros": x * 0, "negative zeros": x * -0.0}[sign]

    agrees(scanned(x.to(dtype), tmp_path / "x.safetensors"), x.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_values_at_the_limit_of_tiny_are_counted_exactly(dtype, tmp_path):
    """1e-8 itself is not below it; its neighbours of each type are, or are not."""
    limit = torch.tensor([1e-8], dtype=torch.float64).to(dtype)
    around = torch.tensor([0.0, -0.0, 1.0, -2.0], dtype=torch.float64).to(dtype)
    near = [torch.nextafter(limit, limit * 2), limit, torch.nextafter(limit, limit * 0)]
    for value in [*near, *(-v for v in near)]:
        agrees(scanned(torch.cat([around, value]), tmp_path / "x.safetensors"), torch.cat([around, value]))
