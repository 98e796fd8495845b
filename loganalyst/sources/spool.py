"""Where the rows of a run wait until all its files are read: in memory, beyond a limit in files."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

HELD = 1 << 18  # rows of a run in memory before they go to disk
GROUP = 1 << 17  # rows handed on at a time, and in a row group of what is written


class Rows:
    """Rows that may lie on disk."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.height = frame.height
        self._frame: pl.DataFrame | None = frame
        self._file: Path | None = None

    def spill(self, file: Path) -> None:
        """Move the rows to `file`. Raises OSError."""
        if self._frame is not None:
            self._frame.write_parquet(file, compression="lz4", row_group_size=GROUP, statistics=False)
            self._frame, self._file = None, file

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows in order: those in memory as one frame, those on disk at most GROUP at a time."""
        if self._frame is not None:
            yield self._frame
        elif self._file is not None:
            yield from slices(self._file, 0, self.height)


class Spool:
    """Keeps rows: all in memory where `folder` is None, else at most HELD of them; the others go to that folder, which
    is made when it is needed and not removed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._held: list[Rows] = []
        self._rows = 0
        self._files = 0

    @property
    def spilled(self) -> bool:
        """Whether some rows lie on disk."""
        return self._files > 0

    def keep(self, frame: pl.DataFrame) -> Rows:
        """Take these rows. Raises OSError where the disk takes no more."""
        rows = Rows(frame)
        if self._folder is not None:
            self._held.append(rows)
            self._rows += rows.height
            if self._rows > HELD:
                self._spill(self._folder)
        return rows

    def _spill(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for rows in self._held:
            rows.spill(folder / f"{self._files}.parquet")
            self._files += 1
        self._held, self._rows = [], 0


def slices(file: Path, start: int, height: int) -> Iterator[pl.DataFrame]:
    """`height` rows of a Parquet file from row `start` on, at most GROUP at a time."""
    for offset in range(start, start + height, GROUP):
        yield pl.scan_parquet(file).slice(offset, min(GROUP, start + height - offset)).collect()
