"""Rows of a run, kept until all its files are read: in memory, and above a limit in an unnamed temporary file."""

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import IO, NamedTuple

import polars as pl

MAX_HELD_ROWS = 1 << 18  # of a run in memory, before they go to disk
MAX_ROWS_IN_MEMORY = 8 << 20  # of a run that is judged from memory, without a store; a row takes some 60 bytes
GROUP_ROWS = 1 << 17  # rows that are passed on at a time, and of a row group in a Parquet file


class _Written(NamedTuple):
    """Rows on disk: frames of at most GROUP_ROWS rows, with these `sizes` in bytes, from `start` on."""

    file: IO[bytes]
    start: int
    sizes: tuple[int, ...]


class Rows:
    """Rows that may lie on disk."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.height = frame.height
        self._frame: pl.DataFrame | None = frame
        self._written: _Written | None = None

    def spill(self, file: IO[bytes]) -> None:
        """Move the rows to the end of `file`. Raises OSError."""
        if self._frame is None:
            return
        start, sizes = file.seek(0, io.SEEK_END), list[int]()
        for rows in self._frame.iter_slices(GROUP_ROWS):
            packed = io.BytesIO()
            rows.write_ipc(packed, compression="lz4")
            sizes.append(file.write(packed.getbuffer()))
        self._frame, self._written = None, _Written(file, start, tuple(sizes))

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows in order: those in memory as one frame, those on disk at most GROUP_ROWS at a time."""
        if self._frame is not None:
            yield self._frame
        elif self._written is not None:
            at = self._written.start
            for size in self._written.sizes:
                self._written.file.seek(at)
                yield pl.read_ipc(io.BytesIO(self._written.file.read(size)))
                at += size


class Spool:
    """Keeps rows. At most `held` rows stay in memory (None: all). Above that, all held rows go to an unnamed file in
    `folder` (None: the system's folder for temporary files), which vanishes with this process.
    """

    def __init__(self, folder: Path | None = None, held: int | None = None) -> None:
        self._folder = folder
        self._limit = held
        self._held: list[Rows] = []
        self._rows = 0
        self._file: IO[bytes] | None = None
        self._lock = Lock()

    @property
    def spilled(self) -> bool:
        """Whether some rows lie on disk."""
        return self._file is not None

    def keep(self, frame: pl.DataFrame) -> Rows:
        """Take these rows. Raises OSError where the disk is full."""
        return self.adopt(Rows(frame))

    def adopt(self, rows: Rows) -> Rows:
        """Take rows that are in memory. Raises OSError where the disk is full."""
        if self._limit is not None:
            with self._lock:
                self._held.append(rows)
                self._rows += rows.height
                if self._rows > (self._limit if self._file is None else min(self._limit, MAX_HELD_ROWS)):
                    self._spill()
        return rows

    def _spill(self) -> None:
        if self._file is None:
            if self._folder is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - lives as the rows do
        for rows in self._held:
            rows.spill(self._file)
        self._file.flush()
        self._held, self._rows = [], 0


def slices(file: Path, start: int, height: int, group: int = GROUP_ROWS) -> Iterator[pl.DataFrame]:
    """`height` rows of a Parquet file from row `start` on, at most `group` at a time."""
    for offset in range(start, start + height, group):
        yield pl.scan_parquet(file).slice(offset, min(group, start + height - offset)).collect()
