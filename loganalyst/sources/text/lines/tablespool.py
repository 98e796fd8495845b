"""Tables that wait: in memory while they are small, else in a temporary file."""

import tempfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.text.lines.numberrecords import Counted, Points
from loganalyst.sources.text.sizes import SIZES

Block = tuple[Counted, Points]


class Spool:
    """Keeps blocks in order. Above `most` bytes they go to a temporary file, array after array."""

    def __init__(self, most: int = SIZES.waiting) -> None:
        self.most = most
        self.held: list[Block] = []
        self.size = 0
        self.file: IO[bytes] | None = None
        self.written: list[list[tuple[int, list[np.dtype[Any]]]]] = []  # each block's tables: rows, columns

    def add(self, block: Block) -> None:
        """Keep one more block."""
        self.held.append(block)
        self.size += sum(column.nbytes for table in block for column in table.columns())
        if self.size > self.most:
            self._write()

    def __iter__(self) -> Iterator[Block]:
        if self.file is not None:
            self.file.seek(0)
        for records, points in self.written:
            yield Counted(*self._columns(*records)), Points(*self._columns(*points))
        yield from self.held

    def _columns(self, rows: int, types: list[np.dtype[Any]]) -> list[NDArray[Any]]:
        assert self.file is not None
        return [np.fromfile(self.file, kind, rows) for kind in types]

    def _write(self) -> None:
        self.file = self.file or tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives as long as the spool
        for block in self.held:
            for column in (column for table in block for column in table.columns()):
                column.tofile(self.file)
            self.written.append([(len(table), [column.dtype for column in table.columns()]) for table in block])
        self.held, self.size = [], 0
