"""Safetensors files: 8 bytes of length, a JSON header, the data. Every size is checked against the file's before use.

The format: https://huggingface.co/docs/safetensors/index#format
"""

import json
from math import prod
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from loganalyst.checkpoint.tensorblocks import RAW, Stored, from_file
from loganalyst.errors import SourceError
from loganalyst.opening import opened

MAX_HEADER_BYTES = 100_000_000  # the format's own limit
MAX_AXES = 64
DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "C64": "complex64",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}
FORMAT = "a safetensors file is 8 bytes of length, a JSON header and exactly the data that it describes"


def read(path: Path) -> list[Stored]:
    """The tensors of one file, in the order of their data. Raises SourceError if the header is invalid."""
    size = path.stat().st_size
    start, header = _header(path, size)
    spans = sorted((*_span(path, name, entry, size - start), name) for name, entry in header.items())
    end = 0
    for first, last, name in spans:
        if first != end:
            raise SourceError(path, f"tensor {name!r} begins at byte {first}, not {end} of the data", FORMAT)
        end = last
    if start + end != size:
        raise SourceError(path, f"is {size} bytes long but its header describes {start + end}", FORMAT)
    return [_stored(path, name, header[name], start + first) for first, _, name in spans]


def _header(path: Path, size: int) -> tuple[int, dict[str, Any]]:
    """The byte at which the data begins, and the header's entries without the free-form `__metadata__`."""
    with opened(path) as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, MAX_HEADER_BYTES):
            raise SourceError(path, f"its header should be {length} bytes long, in a file of {size}", FORMAT)
        text = file.read(length)
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        raise SourceError(path, f"its header is not JSON ({str(error)[:100]})", FORMAT) from None
    if not isinstance(header, dict):
        raise SourceError(path, "its header is not JSON of an object", FORMAT)
    return 8 + length, {name: entry for name, entry in header.items() if name != "__metadata__"}


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _span(path: Path, name: str, entry: Any, room: int) -> tuple[int, int]:
    """The first and last byte of a tensor in the data, checked against its shape and type."""
    shown = name[:100]
    if not isinstance(entry, dict) or str(entry.get("dtype")) not in DTYPES:
        kind = str(entry.get("dtype") if isinstance(entry, dict) else entry)[:40]
        raise SourceError(path, f"tensor {shown!r} has the unknown type {kind!r}", f"known are {', '.join(DTYPES)}")
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    if not (_are_sizes(shape) and len(shape) <= MAX_AXES and _are_sizes(offsets) and len(offsets) == 2):
        raise SourceError(path, f"tensor {shown!r} has no valid shape or offsets", FORMAT)
    first, last = offsets
    wanted = prod(shape) * np.dtype(RAW[DTYPES[entry["dtype"]]]).itemsize
    if not (first <= last <= room and last - first == wanted):
        what = f"tensor {shown!r} lies at bytes {first:.6g} to {last:.6g} of {room}, and its shape needs {wanted:.6g}"
        raise SourceError(path, what, FORMAT)
    return first, last


def _are_sizes(value: Any) -> TypeGuard[list[int]]:
    """Whether this is a list of numbers from 0 to 2^63 - 1."""
    return isinstance(value, list) and all(type(v) is int and 0 <= v < 1 << 63 for v in value)


def _stored(path: Path, name: str, entry: Any, start: int) -> Stored:
    shape, dtype = tuple(entry["shape"]), DTYPES[entry["dtype"]]
    kind = np.dtype(RAW[dtype])
    return Stored(name, shape, dtype, lambda: from_file(path, start, prod(shape), kind), (path, start, name))
