"""Sparse files: a log that was emptied while its program went on writing, or a file that claims a size it never had.

A hole reads as zeros and may be larger than any disk. If holes are most of a file, the data between them is copied to
a temporary file (TMPDIR) for the reader.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from loganalyst.limits import MAX_EXTENTS, MIN_HOLE_BYTES, between_holes
from loganalyst.model import UNREAD, table
from loganalyst.opening import opened_raw, temporary
from loganalyst.sources.files.compressed import MAX_CONTENT_BYTES
from loganalyst.sources.files.lineblocks import gap

_PIECE_BYTES = 16 << 20


@contextmanager
def solid(path: Path, holes: int = MIN_HOLE_BYTES) -> Iterator[tuple[Path, pl.DataFrame]]:
    """The file to read in place of `path`, and the gap that says what was left out. A file with less than `holes` bytes
    of holes is read itself. Raises OSError.
    """
    found = between_holes(path, holes)
    if found is None:
        yield path, table("gaps")
        return
    with temporary() as folder:
        inner = Path(folder, path.name)
        left = _copied(path, found, inner)
        size, data = path.stat().st_size, inner.stat().st_size
        why = f"a sparse file: of {size:,} bytes {data:,} are read, the rest are holes" + left
        yield inner, gap(path, f"{why}; lines and offsets count without them", 0, size - data)


def _copied(path: Path, data: list[tuple[int, int]], inner: Path) -> str:
    """Write the data to `inner`. The result says, in words, what else is left out."""
    limit = min(MAX_CONTENT_BYTES, shutil.disk_usage(inner.parent).free // 2)
    with opened_raw(path) as file, inner.open("wb") as out:
        for begin, end in data:
            for at in range(begin, end, _PIECE_BYTES):
                if out.tell() >= limit:
                    return f", {UNREAD} behind {limit:,} bytes of data"
                out.write(os.pread(file.fileno(), min(_PIECE_BYTES, end - at), at))
    return f", {UNREAD} behind {MAX_EXTENTS:,} stretches of data" if len(data) == MAX_EXTENTS else ""
