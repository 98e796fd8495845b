"""NumPy's `.npy` and `.npz` as arrays of float64: bounded in size, and never unpickled."""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
from numpy.typing import NDArray

from loganalyst.opening import whole
from loganalyst.sources.files.zips import FAULTS

MAX_BYTES = 64 << 20  # of the file, and of one array unpacked
MAGIC = b"\x93NUMPY"
PICKLED = "holds Python objects in a pickle, which can run code and is not loaded: export it as JSON or CSV"
Floats = NDArray[np.float64]


def arrays(path: Path) -> Iterator[tuple[str, Floats | str]]:
    """The name of each array (empty in a `.npy`), and the array or why it cannot be read. Raises OSError, and
    ValueError for a file that is neither.
    """
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES >> 20} MiB")
    content = BytesIO(whole(path))  # a damaged place is then no error of the system
    if content.getbuffer()[: len(MAGIC)] == MAGIC:
        yield "", _floats(content)
        return
    try:
        with zipfile.ZipFile(content) as archive:
            for member in archive.infolist():
                if member.filename.endswith(".npy"):
                    yield member.filename.removesuffix(".npy"), _member(archive, member)
    except FAULTS as error:
        raise ValueError(str(error)[:200]) from None


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Floats | str:
    if member.file_size > MAX_BYTES:
        return f"is larger than {MAX_BYTES >> 20} MiB"
    try:
        with archive.open(member) as file:
            return _floats(file)
    except FAULTS as error:
        return str(error)[:200]


def _floats(file: IO[bytes]) -> Floats | str:
    try:
        if (size := _size(file)) > MAX_BYTES:  # before the array is allocated
            return f"is larger than {MAX_BYTES >> 20} MiB"
        array = np.lib.format.read_array(file, allow_pickle=False) if size >= 0 else None
    except (*FAULTS, SyntaxError, TokenError) as error:
        return PICKLED if "pickle" in str(error).lower() else str(error)[:200]
    if array is None or array.dtype.kind not in "biuf":
        return PICKLED if array is None else f"an array of {array.dtype}, not of numbers"
    found: Floats = array.astype(np.float64)
    return found


def _size(file: IO[bytes]) -> int:
    """How many bytes the array takes, by its header; -1 for Python objects. Raises ValueError for a broken header."""
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(file)
    if version not in headers:
        raise ValueError(f"version {version} of the format holds no numbers")
    shape, _, dtype = headers[version](file)
    file.seek(0)
    return -1 if dtype.hasobject else prod(shape) * dtype.itemsize
