"""Dumps of torch's flight recorder, one file per rank: its last operations in NCCL (or gloo), and their progress.

A dump is a pickle, as the watchdog writes it, or JSON from `_dump_nccl_trace_json`. Pickles are read as plain data. The
dump does not contain the rank, which is the last number in the file's name.
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

_RANK = re.compile(r"(\d+)(?:\.[A-Za-z]+)*$")  # nccl_trace_rank_12, trace_3.json
_KEYS = (b"pg_config", b"pg_status", b"nccl_comm_state", b"collective_seq_id", b"profiling_name")


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 (the content decides, not the name)
    """How sure it is that the file is a dump: a pickle or JSON object with two of its keys."""
    begins = head[:1] == b"\x80" or head.lstrip()[:1] == b"{"
    return 0.99 if begins and sum(key in head for key in _KEYS) >= 2 else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The rank's last operations (`collectives`) and its groups (`process_groups`)."""
    named = _RANK.search(path.name)
    rank = int(named[1]) if named and len(named[1]) <= 9 else None
    dumped = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    try:
        with _without_garbage_collection():
            found = entries.tables(_loaded(path), rank, path.name, dumped)
    except (ValueError, RecursionError) as error:  # RefusedError is a ValueError
        yield Tables(gaps=gap(path, f"not a readable dump ({error})", 0, path.stat().st_size))
        return
    if rank is None:
        yield Tables(gaps=gap(path, "no rank in its name", 0, 0))
    yield found


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, which would traverse the whole dump again and again. A dump has no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _loaded(path: Path) -> dict[str, object]:
    if path.stat().st_size > plainpickle.MAX_BYTES:
        raise ValueError(f"larger than {plainpickle.MAX_BYTES >> 20} MiB")
    data = whole(path)
    dump = plainpickle.loads(data) if data[:1] == b"\x80" else json.loads(data)
    if not isinstance(dump, dict):
        raise ValueError("not a dictionary")
    return dump
