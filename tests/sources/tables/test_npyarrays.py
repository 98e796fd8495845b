"""NumPy's files, read without running code."""

import io
import zipfile

import numpy as np
import pytest

from loganalyst.sources.tables.npyarrays import PICKLED, arrays


def test_arrays_by_name(tmp_path):
    np.savez_compressed(tmp_path / "h.npz", loss=np.array([1, 2], np.float16), ok=np.array([True]))
    np.save(tmp_path / "x.npy", np.array([3]))

    assert {name: array.tolist() for name, array in arrays(tmp_path / "h.npz")} == {"loss": [1.0, 2.0], "ok": [1.0]}
    assert {name: array.tolist() for name, array in arrays(tmp_path / "x.npy")} == {"": [3.0]}


def test_an_array_that_is_none_costs_only_itself(tmp_path):
    np.savez(tmp_path / "h.npz", objects=np.array([{}], object), words=np.array(["a"]), loss=np.array([1.5]))

    found = dict(arrays(tmp_path / "h.npz"))
    assert (found["objects"], found["words"]) == (PICKLED, "an array of <U1, not of numbers")
    assert found["loss"].tolist() == [1.5]


def test_a_file_that_is_neither_is_an_error(tmp_path):
    (tmp_path / "h.npz").write_bytes(b"PK\x03\x04 and no more")

    with pytest.raises(ValueError, match="File is not a zip file"):
        list(arrays(tmp_path / "h.npz"))


def test_a_member_that_unpacks_to_too_much_is_left_out(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.npy", bytes(65 << 20))
    (tmp_path / "h.npz").write_bytes(content.getvalue())

    assert list(arrays(tmp_path / "h.npz")) == [("big", "is larger than 64 MiB")]


def test_damaged_compression_costs_only_its_array(tmp_path):
    path = tmp_path / "h.npz"
    np.savez_compressed(path, loss=np.random.default_rng(0).normal(size=1000), ok=np.array([1.5]))
    content = bytearray(path.read_bytes())
    content[200:260] = bytes(60)
    path.write_bytes(content)

    found = dict(arrays(path))
    assert isinstance(found["loss"], str)
    assert found["ok"].tolist() == [1.5]


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ("(99999999999999,), }", "is larger than 64 MiB"),
        ("(9,", "('EOF in multi-line statement', (2, 0))"),
        ("(9,), }", "EOF: reading array data, expected 72 bytes got 0"),
    ],
)
def test_a_header_that_lies(tmp_path, shape, why):
    """No more is allocated than a file may hold."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}".ljust(117).encode() + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)

    ((_, found),) = arrays(tmp_path / "x.npy")
    assert found == why
