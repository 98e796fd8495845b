"""Dumps of torch's flight recorder, a file a rank: what each rank last asked NCCL (or gloo) to do, and how far it came.

Pickles as the watchdog writes them, read as plain data; JSON as `_dump_nccl_trace_json` gives it. The rank is the last
number in the file's name: the dump does not hold it.
"""

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from loganalyst.model import Tables
from loganalyst.opening import whole
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.flightrecorder import entries, plainpickle

NAME = "flightrecorder"

_RANK = re.compile(r"(\d+)(?:\.[A-Za-z]+)*$")
_KEYS = (b"pg_config", b"pg_status", b"nccl_comm_state", b"collective_seq_id", b"profiling_name")


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 (what a file begins with decides, not its name)
    """How surely the file is a dump: a pickle or a JSON object in which two of its keys stand."""
    begins = head[:1] == b"\x80" or head.lstrip()[:1] == b"{"
    return 0.99 if begins and sum(key in head for key in _KEYS) >= 2 else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The rank's last operations (`collectives`) and its groups (`process_groups`)."""
    named = _RANK.search(path.name)
    rank = int(named[1]) if named and len(named[1]) <= 9 else None
    dumped = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    try:
        with _uncollected():
            found = entries.tables(_loaded(path), rank, path.name, dumped)
    except (ValueError, RecursionError) as error:  # a refused pickle is a ValueError too
        yield Tables(gaps=gap(path, f"no dump that can be read ({error})", 0, path.stat().st_size))
        return
    if rank is None:
        yield Tables(gaps=gap(path, "no rank in its name", 0, 0))
    yield found


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector: a dump has no cycles, and it would look through all of it again and again, once
    more after it was read. Nothing of it is left at the end.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _loaded(path: Path) -> dict[str, object]:
    if path.stat().st_size > plainpickle.LARGEST:
        raise ValueError(f"larger than {plainpickle.LARGEST >> 20} MiB")
    data = whole(path)
    dump = plainpickle.loads(data) if data[:1] == b"\x80" else json.loads(data)
    if not isinstance(dump, dict):
        raise ValueError("not a dictionary")
    return dump
