"""Frames that wait: in memory while they are small, in a temporary file beyond."""

import io
import tempfile
from collections.abc import Iterator
from typing import IO

import polars as pl

HELD = 8 << 20  # bytes of frames in memory

Frames = tuple[pl.DataFrame, ...]


class Spool:
    """Keeps tuples of frames in order; what is above HELD bytes lies compressed in a temporary file."""

    def __init__(self) -> None:
        self.held: list[Frames] = []
        self.size = 0.0
        self.file: IO[bytes] | None = None
        self.places: list[list[tuple[int, int]]] = []  # of each frame of each tuple in the file: offset and length

    def add(self, frames: Frames) -> None:
        """Keep one tuple more."""
        self.held.append(frames)
        self.size += sum(frame.estimated_size() for frame in frames)
        if self.size > HELD:
            self._write()

    def __iter__(self) -> Iterator[Frames]:
        for places in self.places:
            yield tuple(self._frame(offset, length) for offset, length in places)
        yield from self.held

    def _write(self) -> None:
        self.file = self.file or tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the spool
        self.file.seek(0, io.SEEK_END)
        for frames in self.held:
            places = []
            for frame in frames:
                start = self.file.tell()
                frame.write_ipc(self.file, compression="uncompressed")
                places.append((start, self.file.tell() - start))
            self.places.append(places)
        self.held, self.size = [], 0.0

    def _frame(self, offset: int, length: int) -> pl.DataFrame:
        assert self.file is not None
        self.file.seek(offset)
        return pl.read_ipc(io.BytesIO(self.file.read(length)))
