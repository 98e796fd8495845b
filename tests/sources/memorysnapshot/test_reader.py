"""Snapshots of torch's GPU memory."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from loganalyst import diagnose
from loganalyst.model import Tables
from loganalyst.sources import formats
from loganalyst.sources.memorysnapshot import reader

GIB = 1 << 30
OWN = {"filename": "/home/me/train.py", "line": 31, "name": "forward"}
TORCH = {"filename": "/opt/site-packages/torch/nn/linear.py", "line": 7, "name": "forward"}
CPP = {"filename": "??", "line": 0, "name": "c10::alloc"}


def block(size: float, state: str = "active_allocated", *frames: dict[str, Any]) -> dict[str, Any]:
    return {"size": int(size * GIB), "requested_size": int(size * GIB), "state": state, "frames": list(frames)}


def snapshot(*events: dict[str, Any]) -> dict[str, Any]:
    """A snapshot of two devices, the second one nearly full, in the form of torch 2.5."""
    blocks = [block(12, "active_allocated", CPP, TORCH, OWN), block(3, "active_allocated", TORCH), block(1, "inactive")]
    sizes = {"total_size": 16 * GIB, "allocated_size": 15 * GIB, "active_size": 15 * GIB, "requested_size": 15 * GIB}
    segment = {"device": 1, "address": 140_000_000_000_000, **sizes, "stream": 0, "segment_type": "large",
               "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}  # fmt: skip
    settings = {"expandable_segments": False, "max_split_size": -1}
    return {"segments": [segment], "device_traces": [[], list(events)], "allocator_settings": settings}


ALLOCATED = {"action": "alloc", "addr": 7, "size": GIB, "stream": 0, "time_us": 1, "frames": [OWN]}
FAILED = {"action": "oom", "addr": 0, "size": 2 * GIB, "device_free": GIB // 2, "stream": 0, "time_us": 2, "frames": []}


def read(tmp_path: Path, content: object, name: str = "oom.pickle") -> Tables:
    (tmp_path / name).write_bytes(pickle.dumps(content, protocol=4))
    return Tables.concat(reader.read(tmp_path / name))


def test_the_allocation_that_failed(tmp_path):
    tables = read(tmp_path, snapshot(ALLOCATED, FAILED, ALLOCATED))
    assert tables.lines.select("pattern", "label", "part", "text").rows() == [
        (
            "cuda-oom",
            "cuda_oom",
            "root",
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has 0.50 GiB free; "
            "12.00 GiB were allocated at /home/me/train.py:31 in forward",
        )
    ]
    captures = json.loads(tables.lines["captures"][0])
    assert (captures["tried"], captures["unit"]) == ("2.00", "GiB")


def test_the_memory_of_each_device(tmp_path):
    tables = read(tmp_path, snapshot(ALLOCATED))
    assert tables.lines.height == 0
    assert tables.config.select("key", "number").rows() == [
        ("memory_snapshot.device_1.total_size", 16.0 * GIB),
        ("memory_snapshot.device_1.allocated_size", 15.0 * GIB),
    ]


def test_a_snapshot_alone_names_the_cause(tmp_path):
    read(tmp_path, snapshot(FAILED))
    assert [cause.id for cause in diagnose(tmp_path / "oom.pickle").causes][:1] == ["cuda-out-of-memory"]


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_recognised_by_its_content(tmp_path, protocol):
    path = tmp_path / "x"
    path.write_bytes(pickle.dumps(snapshot(FAILED), protocol=protocol))
    assert formats.reader(path, path.read_bytes()) is reader
    assert reader.sniff(path, pickle.dumps({"segments": 1})) == 0.0


class _Hostile:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("ran",)


def test_code_in_a_snapshot_does_not_run(tmp_path, capsys):
    tables = read(tmp_path, snapshot(FAILED) | {"x": _Hostile()})
    assert capsys.readouterr().out == ""
    assert tables.lines.height == 0
    assert "not a readable memory snapshot" in tables.gaps["why"][0]


def test_content_of_another_kind_is_a_gap(tmp_path):
    assert read(tmp_path, snapshot() | {"segments": [{"total_size": "x"}]}).gaps.height == 1
