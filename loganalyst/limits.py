"""What one run of many may take, on this machine and on the workers of a cluster alike."""

import errno
import multiprocessing
import os
from dataclasses import dataclass
from math import inf
from pathlib import Path

MAX_RUN_SECONDS: float = 300  # to be read, and to be judged, where the user does not say
MAX_SHARE_OF_MEMORY = 0.8  # of a machine's memory, for all runs that it is at
MIN_HOLE_BYTES = 1 << 30  # bytes of holes of a sparse file that are read as they are
MIN_HOLES_PER_DATA = 4  # times its data that holes must take to be left out
WORKER = "LOGANALYST_WORKER"  # the environment variable that marks processes which share the work of another
MAX_EXTENTS = 100_000  # stretches of data that are looked for
_STAT_BLOCK_BYTES = 512  # bytes; what `st_blocks` counts


@dataclass(frozen=True)
class Limits:
    """What one item may take: `seconds` by the clock, and `memory`, bytes its process may hold (seen on Linux only)."""

    seconds: float = inf
    memory: float = inf


def share(memory: float | None, runs: int) -> float:
    """Bytes that each of several `runs` at once may hold of a machine's `memory` (None, 0: it does not tell)."""
    return MAX_SHARE_OF_MEMORY * memory / runs if memory else inf


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spare() -> int:
    """How many processors are left to help this process: none where it is one of several that share the work."""
    shares = WORKER in os.environ or multiprocessing.parent_process() is not None
    return 0 if shares else processors() - 1


def between_holes(path: Path, holes: int = MIN_HOLE_BYTES) -> list[tuple[int, int]] | None:
    """Where a sparse file has data (begin, end); None where it has less than `holes` bytes of holes, or they are less
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
                if error.errno == errno.ENXIO:  # no data behind `end`
                    break
                raise
            found.append((begin, end))
    data = sum(end - begin for begin, end in found)
    empty = stat.st_size - data  # a file system that compresses has few blocks and no holes
    return found if empty >= holes and empty > MIN_HOLES_PER_DATA * data else None
