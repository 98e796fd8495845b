"""Safetensors files, and headers that lie."""

import numpy as np
import pytest

from loganalyst.checkpoint import safetensors as reader
from tests.checkpoint.samples import header, refused


def test_tensors_come_in_the_order_of_their_data(tmp_path):
    entries = {
        "__metadata__": {"format": "pt"},
        "b": {"dtype": "I16", "shape": [2], "data_offsets": [4, 8]},
        "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
    }
    data = np.float32(2.5).tobytes() + np.array([7, -1], np.int16).tobytes()
    found = reader.read(header(tmp_path / "x.safetensors", entries, data))

    assert [(t.name, t.shape, t.dtype) for t in found] == [("a", (), "float32"), ("b", (2,), "int16")]
    assert [block.tolist() for t in found for block in t.raw()] == [[2.5], [7, -1]]


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1 << 62, 4], "data_offsets": [0, 0]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 1 << 62]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [-4, 0]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]},
        {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1] * 10_000, "data_offsets": [0, 4]},
        {"dtype": "F33", "shape": [1], "data_offsets": [0, 4]},
        {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]},
        {"shape": [1]},
        [],
        None,
    ],
)
def test_a_false_header_is_refused(entry, tmp_path):
    assert "tensor" in refused(header(tmp_path / "x.safetensors", {"w": entry}, b"\0" * 8))


def test_invalid_headers_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    for text in (b"[]", b"{", b"\xff\xfe{}", b'{"a": ' + b"[" * 100_000, b'{"w": 1, "w": 1}', b"9" * 9000):
        assert "its header is not JSON" in refused(header(path, text))
    for length in (1 << 63, (1 << 64) - 1, 101_000_000, 3):
        assert "header should be" in refused(header(path, b"{}", length=length))
    assert "header should be 0" not in refused(header(path, b"", length=0))


def test_tensors_that_overlap_or_leave_numbers_over_are_refused(tmp_path):
    one = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}

    assert "begins at" in refused(header(tmp_path / "x.safetensors", {"a": one, "b": one}, b"\0" * 4))
    assert "bytes long" in refused(header(tmp_path / "x.safetensors", {"a": one}, b"\0" * 9))
