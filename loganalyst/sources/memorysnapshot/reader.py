"""Snapshots of torch's GPU memory (`torch.cuda.memory._dump_snapshot`): the allocation that failed, and what filled
the memory.

A snapshot is a pickle, which is read as plain data: no code runs. Source: torch 2.5, `torch/cuda/memory.py` and
`torch/csrc/cuda/memory_snapshot.cpp`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.opening import whole
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.flightrecorder import plainpickle
from loganalyst.sources.text.patterns import catalogue

NAME = "memorysnapshot"
_KEYS = (b"segments", b"total_size", b"allocated_size", b"active_size", b"device_traces", b"allocator_settings")
_GIB = 1 << 30
_LIBRARY = ("site-packages", "dist-packages", "/torch/", "<frozen", "??")  # places that are not the user's


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 (the content decides, not the name)
    """How sure it is that the file is a snapshot: a pickle with three of its keys."""
    return 0.99 if head[:1] == b"\x80" and sum(key in head for key in _KEYS) >= 3 else 0.0


def read(path: Path) -> Iterator[Tables]:
    """A line for the last allocation that failed, if one did, and the memory of each device as `config`.

    Memory is in bytes. Content that is no snapshot becomes a gap.
    """
    size = path.stat().st_size
    if size > plainpickle.MAX_BYTES:
        yield Tables(gaps=gap(path, f"a memory snapshot larger than {plainpickle.MAX_BYTES >> 20} MiB", 0, size))
        return
    try:
        snapshot = plainpickle.loads(whole(path))
        segments = _objects(snapshot, "segments")
        failures = [e for e in _events(snapshot) if e.get("action") == "oom"]
        yield Tables(config=table("config", _reserved(segments, path)), lines=_lines(path, segments, failures))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        yield Tables(gaps=gap(path, f"not a readable memory snapshot ({error})", 0, size))


def _list(holder: object, key: str) -> list[Any]:
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, list) else []


def _objects(holder: object, key: str) -> list[dict[str, Any]]:
    """The objects in the list under a key; what is no object is left out."""
    return [item for item in _list(holder, key) if isinstance(item, dict)]


def _events(snapshot: object) -> Iterator[dict[str, Any]]:
    """What the allocator did, by device; each with its `device`."""
    for device, events in enumerate(_list(snapshot, "device_traces")):
        for event in events if isinstance(events, list) else ():
            if isinstance(event, dict):
                yield {"device": device, **event}


def _reserved(segments: Sequence[Mapping[str, Any]], path: Path) -> dict[str, Any]:
    """The bytes that the allocator holds of each device, and those in use, as columns of `config`."""
    sums = Counter[str]()
    for segment in segments:
        for name in ("total_size", "allocated_size"):
            sums[f"memory_snapshot.device_{int(segment.get('device', 0))}.{name}"] += int(segment.get(name, 0))
    return {"key": list(sums), "value": [str(n) for n in sums.values()], "number": list(map(float, sums.values())),
            "origin": path.name}  # fmt: skip


def _lines(path: Path, segments: Sequence[Mapping[str, Any]], failures: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The row of `lines` for the last failed allocation, in torch's words, which a pattern claims."""
    if not failures:
        return table("lines")
    last = failures[-1]
    tried, free, gpu = int(last.get("size", 0)) / _GIB, last.get("device_free"), last["device"]
    text = f"CUDA out of memory. Tried to allocate {tried:.2f} GiB. GPU {gpu}"
    if isinstance(free, int):
        text += f" has {free / _GIB:.2f} GiB free"
    if place := _largest(segments, gpu):
        text += f"; {place}"
    patterns = {pattern.id: pattern for pattern in catalogue.catalogue()}
    ((_, name, captures),) = catalogue.match(pl.Series([text]), list(patterns.values())).rows()
    return table("lines", {
        "session": [0], "file": path.name, "line": 1, "pattern": name, "label": patterns[name].label,
        "part": patterns[name].part, "captures": captures, "text": text,
    })  # fmt: skip


def _largest(segments: Sequence[Mapping[str, Any]], gpu: int) -> str:
    """The place of the user's program that holds most memory of a device; empty if none is known."""
    held = Counter[str]()
    for segment in segments:
        for block in _objects(segment, "blocks") if segment.get("device", 0) == gpu else ():
            if block.get("state") == "active_allocated" and (place := _place(_objects(block, "frames"))):
                held[place] += int(block.get("size", 0))
    return next((f"{size / _GIB:.2f} GiB were allocated at {place}" for place, size in held.most_common(1)), "")


def _place(frames: Sequence[Mapping[str, Any]]) -> str:
    """The innermost frame of the user's program, as `/a/train.py:31 in main`."""
    own = (f for f in frames if str(f.get("filename")).endswith(".py") and not _of_library(str(f["filename"])))
    return next((f"{f['filename']}:{f.get('line')} in {f.get('name')}" for f in own), "")


def _of_library(filename: str) -> bool:
    return any(part in filename for part in _LIBRARY)
