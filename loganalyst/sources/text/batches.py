"""What is done of a log's batches that needs nothing of the batches before: reading, lines, hashes, patterns' literals.

Half of the work at a log is this. Of a large log a process of its own does it, one batch ahead of the one that makes
sense of them; a thread would not do: every literal that hyperscan reports and every call of numpy waits for Python's
lock.
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

from loganalyst import processes
from loganalyst.limits import spare
from loganalyst.opening import opened_raw
from loganalyst.sources.text.lines import loglines as textlines
from loganalyst.sources.text.lines.linekinds import hashed
from loganalyst.sources.text.lines.loglines import Chunk, Place
from loganalyst.sources.text.lines.numberrecords import Integers
from loganalyst.sources.text.patterns import catalogue
from loganalyst.sources.text.tracebacks import textblocks

HELD = 1 << 20  # bytes of an unfinished block that wait for the next batch
LARGE = 64 << 20  # bytes from which a process of its own is worth its start: half a second of a processor


class Scanned(NamedTuple):
    """Rows of a log, the hash of each one's kind, and which of the texts that are looked for stand in which of them
    (`patterns.candidates`).
    """

    chunk: Chunk
    hashes: NDArray[np.uint64]
    rows: Integers
    literals: Integers


Batch = tuple[Scanned, Place | None]


@dataclass(frozen=True)
class Log:
    """A log of `size` bytes, read from `start` on, in which the literals of `known` and the texts `also` are sought."""

    path: Path
    size: int
    start: Place
    known: Sequence[catalogue.Pattern]
    also: tuple[str, ...]


def scanned(log: Log) -> Iterator[Batch]:
    """The rows of a log, and after each batch the place where the next reading may begin (None: not here).

    Raises OSError.
    """
    batches = _scanned(log)
    if log.size - log.start.offset >= LARGE and spare():
        batches = _with_help(log)
    yield from batches


def _with_help(log: Log) -> Iterator[Batch]:
    """The same: the first batches are scanned here while the other process starts."""
    starting = Thread(target=_start, daemon=True)
    starting.start()
    for batch in _scanned(log):
        yield batch
        _, place = batch
        if place is not None and not starting.is_alive():
            break
    else:
        return
    rest, done = replace(log, start=place), 0
    try:
        for batch in _from_apart(rest):
            yield batch
            done += 1
    except (processes.DiedError, OSError):  # whatever it was, it is scanned here
        yield from islice(_scanned(rest), done, None)


def _start() -> None:
    """Have a process with all modules wait for work."""
    with suppress(processes.DiedError, OSError):  # then it cannot help either when it is asked
        list(processes.stream(processes.__name__, "load", __name__))


def _scanned(log: Log) -> Iterator[Batch]:
    for rows, place in _unbroken(log):
        if len(rows):
            literals = catalogue.candidates(rows.data, rows.starts[1:] - 1, log.known, log.also)
            yield Scanned(rows, hashed(rows.data), *literals), place


def _unbroken(log: Log) -> Iterator[tuple[Chunk, Place | None]]:
    """The same rows, in batches that end in no block that may go on in the next."""
    rest: Chunk | None = None
    for chunk, place in textlines.batches(log.path, log.start):
        rows = chunk.after(rest)
        cut = len(rows) if place is None and rows.reaches(log.size) else textblocks.unfinished(rows)
        rows, rest = rows.cut(cut if len(rows.data) - rows.starts[min(cut, len(rows))] < HELD else len(rows))
        yield rows, place if rest is None else None
    if rest is not None:
        yield rest, None


def _from_apart(log: Log) -> Iterator[Batch]:
    """What another process scanned. Raises DiedError, OSError."""
    with opened_raw(log.path) as file:
        for told, *found, place in processes.stream(__name__, "packed", log):
            yield Scanned(_unpacked(file.fileno(), *told), *found), place


def packed(log: Log) -> Iterator[tuple[Any, ...]]:
    """What `_scanned` gives, to be sent: of rows that stand in the file like this only where."""
    for (chunk, *found), place in _scanned(log):
        starts = chunk.starts.astype(np.int32)
        if chunk.plain and chunk.offset is not None:
            yield (len(chunk.data), starts, int(chunk.line[0]), int(chunk.offset[0])), *found, place
        else:
            yield (chunk.data, starts, chunk.line, chunk.offset), *found, place


def _unpacked(file: int, data: Any, starts: NDArray[np.int32], line: Any, offset: Any) -> Chunk:
    """The rows that were sent."""
    places = starts.astype(np.int64)
    if isinstance(data, bytes):
        return Chunk(data, places, line, offset)
    text = os.pread(file, data, offset)
    if len(text) < data:
        raise OSError(errno.EIO, "cut while it was read")
    return Chunk(text, places, np.arange(line, line + len(places) - 1), places[:-1] + offset, plain=True)
