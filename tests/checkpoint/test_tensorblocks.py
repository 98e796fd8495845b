"""Values of every type, as they are stored."""

import math

import numpy as np
import pytest
import torch

from loganalyst.checkpoint.tensorblocks import BLOCK, from_file, values_of
from loganalyst.errors import SourceError
from tests.checkpoint.samples import COUNT, agrees, drawn, scanned


def test_values_of_known_bit_patterns():
    assert values_of("float8_e4m3fn")[[0x01, 0x08, 0x38, 0x7E, 0xB8]].tolist() == [2**-9, 2**-6, 1.0, 448.0, -1.0]
    assert np.isnan(values_of("float8_e4m3fn")[[0x7F, 0xFF]]).all()
    assert values_of("float8_e5m2")[[0x3C, 0x7B, 0x7C]].tolist() == [1.0, 57344.0, math.inf]
    assert values_of("float8_e8m0fnu")[[0, 127, 254]].tolist() == [2.0**-127, 1.0, 2.0**127]


def test_a_file_that_is_cut_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(np.arange(4, dtype="<f4").tobytes())

    assert [block.tolist() for block in from_file(path, 4, 3, np.dtype("<f4"))] == [[1.0, 2.0, 3.0]]
    with pytest.raises(SourceError, match="became shorter while it was read"):
        list(from_file(path, 4, 4, np.dtype("<f4")))


TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]


WHOLE = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.bool]


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
