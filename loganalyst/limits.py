"""Limits of one run among many: time, memory, processors, and the holes of sparse files."""

import errno
import multiprocessing
import os
from math import inf
from pathlib import Path

import msgspec

MAX_RUN_SECONDS: float = 300  # to read a run, and to judge it, unless the user sets another limit
MAX_SHARE_OF_MEMORY = 0.8  # of a machine's memory, for all runs in work together
MIN_HOLE_BYTES = 1 << 30  # smaller holes of a sparse file are read as zeros
MIN_HOLES_PER_DATA = 4  # times the data of a file that its holes must have to be left out
MAX_EXTENTS = 100_000  # stretches of data that are looked up in a sparse file
WORKER = "LOGANALYST_WORKER"  # the environment variable that marks worker processes
_STAT_BLOCK_BYTES = 512  # the unit of `st_blocks`


class Limits(msgspec.Struct, frozen=True):
    """Limits of one item: `seconds` by the clock, and bytes of `memory` of its process (enforced on Linux only)."""

    seconds: float = inf
    memory: float = inf


def share(memory: float | None, runs: int) -> float:
    """The bytes that each of several `runs` at once may use of a machine's `memory` (None, 0: not known)."""
    return MAX_SHARE_OF_MEMORY * memory / runs if memory else inf


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spare() -> int:
    """How many processors are left to help this process: none if it is one of several that share the work."""
    shares = WORKER in os.environ or multiprocessing.parent_process() is not None
    return 0 if shares else processors() - 1


def between_holes(path: Path, holes: int = MIN_HOLE_BYTES) -> list[tuple[int, int]] | None:
    """The stretches of data of a sparse file (begin, end). None if it has less than `holes` bytes of holes, or less
    than MIN_HOLES_PER_DATA times its data. Raises OSError.
    """
    stat = path.stat()
    if not hasattr(os, "SEEK_DATA") or stat.st_size - stat.st_blocks * _STAT_BLOCK_BYTES < holes:
        return None
    found: list[tuple[int, int]] = []
    with path.open("rb", buffering=0) as file:
        end = 0
        while end < stat.st_size and len(found) < MAX_EXTENTS:
            try:
                begin = os.lseek(file.fileno(), end, os.SEEK_DATA)
                end = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
            except OSError as error:
                if error.errno == errno.ENXIO:  # no data after `end`
                    break
                raise
            found.append((begin, end))
    data = sum(end - begin for begin, end in found)
    empty = stat.st_size - data  # a file system that compresses has few blocks and no holes
    return found if empty >= holes and empty > MIN_HOLES_PER_DATA * data else None
