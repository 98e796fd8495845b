"""What one run of many may take, on this machine and on the workers of a cluster alike."""

import multiprocessing
import os
from dataclasses import dataclass
from math import inf

SECONDS: float = 300  # to be read, and to be judged, where the user does not say
SHARE = 0.8  # of a machine's memory, for all runs that it is at


@dataclass(frozen=True)
class Limits:
    """What one item may take: `seconds` by the clock, and `memory`, bytes its process may hold (seen on Linux only)."""

    seconds: float = inf
    memory: float = inf


def share(memory: float | None, runs: int) -> float:
    """Bytes that each of several `runs` at once may hold of a machine's `memory` (None, 0: it does not tell)."""
    return SHARE * memory / runs if memory else inf


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spare() -> int:
    """How many processors are left to help this process: none where it is one of several that share the work."""
    return processors() - 1 if multiprocessing.parent_process() is None else 0
