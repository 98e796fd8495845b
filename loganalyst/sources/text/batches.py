"""The work on a log's batches that does not depend on earlier batches: reading, lines, hashes, patterns' literals.

This is half of the work. For a large log a second process does it, one batch ahead of the process that interprets them.
A thread would not help: each literal that hyperscan reports and each call of numpy waits for Python's lock.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.limits import spare
from loganalyst.opening import opened_raw
from loganalyst.processes import streams
from loganalyst.processes.worker import DiedError
from loganalyst.sources.text.lines import loglines as textlines
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import kind_hashes
from loganalyst.sources.text.lines.loglines import Place
from loganalyst.sources.text.lines.numberrecords import Integers
from loganalyst.sources.text.patterns import catalogue
from loganalyst.sources.text.sizes import SIZES, Sizes
from loganalyst.sources.text.tracebacks import textblocks

MAX_HELD_BYTES = 1 << 20  # of an unfinished block that waits for the next batch


class Scanned(NamedTuple):
    """Rows of a log, the hash of each row's kind, and which of the searched texts are in which rows
    (`catalogue.candidates`).
    """

    chunk: Chunk
    hashes: NDArray[np.uint64]
    rows: Integers
    literals: Integers


Batch = tuple[Scanned, Place | None]


@dataclass(frozen=True)
class Log:
    """A log of `size` bytes, read from `start` on. The literals of `known` and the texts `also` are searched for."""

    path: Path
    size: int
    start: Place
    known: Sequence[catalogue.Pattern]
    also: catalogue.Also
    sizes: Sizes = SIZES


def scanned(log: Log) -> Iterator[Batch]:
    """The rows of a log, and after each batch the place where the next reading may begin (None: not here).

    Raises OSError.
    """
    batches = _scanned(log)
    if log.size - log.start.offset >= log.sizes.shared and spare():
        batches = _scanned_with_help(log)
    yield from batches


def _scanned_with_help(log: Log) -> Iterator[Batch]:
    """The same, scanned by a second process; this process scans the first batches while the other one starts."""
    starting = Thread(target=_start_helper, daemon=True)
    starting.start()
    for batch in _scanned(log):
        yield batch
        _, place = batch
        if place is not None and not starting.is_alive():
            break
    else:
        return
    remainder, done = replace(log, start=place), 0
    try:
        for batch in _scanned_by_helper(remainder):
            yield batch
            done += 1
    except (DiedError, OSError):  # then this process scans the rest
        yield from islice(_scanned(remainder), done, None)


def _start_helper() -> None:
    """Start a process that has all warm_up loaded and waits for work."""
    with suppress(DiedError, OSError):  # then it cannot help later either
        list(streams.stream(__name__, "warm_up"))


def warm_up() -> tuple[()]:
    """Yields nothing; to answer, the other process must have imported this module."""
    return ()


def _scanned(log: Log) -> Iterator[Batch]:
    """The scanned rows of a log, in this process."""
    for rows, place in _unbroken(log):
        if len(rows):
            literals = catalogue.candidates(rows.data, rows.starts[1:] - 1, log.known, log.also)
            yield Scanned(rows, kind_hashes(rows.data, log.sizes.cache), *literals), place


def _unbroken(log: Log) -> Iterator[tuple[Chunk, Place | None]]:
    """The rows in batches that do not end within a block."""
    held: Chunk | None = None
    for chunk, place in textlines.batches(log.path, log.start, log.sizes):
        rows = chunk.after(held)
        cut = len(rows) if place is None and rows.reaches(log.size) else textblocks.unfinished(rows)
        rows, held = rows.cut(cut if len(rows.data) - rows.starts[min(cut, len(rows))] < MAX_HELD_BYTES else len(rows))
        yield rows, place if held is None else None
    if held is not None:
        yield held, None


def _scanned_by_helper(log: Log) -> Iterator[Batch]:
    """The rows that another process scanned. Raises DiedError, OSError."""
    with opened_raw(log.path) as file:
        for rows, *found, place in streams.stream(__name__, "pack", log):
            yield Scanned(_unpack(file.fileno(), *rows), *found), place


def pack(log: Log) -> Iterator[tuple[Any, ...]]:
    """The results of `_scanned` in a form to send; rows that are unchanged in the file are sent as their place."""
    for (chunk, *found), place in _scanned(log):
        starts = chunk.starts.astype(np.int32)
        if chunk.plain and chunk.offset is not None:
            yield (len(chunk.data), starts, int(chunk.line[0]), int(chunk.offset[0])), *found, place
        else:
            yield (chunk.data, starts, chunk.line, chunk.offset), *found, place


def _unpack(file: int, data: Any, starts: NDArray[np.int32], line: Any, offset: Any) -> Chunk:
    """The rows that were sent; `data` is their text or its size in the file."""
    places = starts.astype(np.int64)
    if isinstance(data, bytes):
        return Chunk(data, places, line, offset)
    text = os.pread(file, data, offset)
    if len(text) < data:
        raise OSError(errno.EIO, "cut while it was read")
    return Chunk(text, places, np.arange(line, line + len(places) - 1), places[:-1] + offset, plain=True)
