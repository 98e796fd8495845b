"""A dump as tables, from plain data."""

from datetime import UTC, datetime

from loganalyst.sources.flightrecorder import entries

OPERATION = {
    "record_id": 0,
    "process_group": ["0", "default_pg"],
    "collective_seq_id": 4,
    "profiling_name": "nccl:all_reduce",
    "state": "started",
    "input_sizes": [[4, 16], [8], [8]],
    "output_sizes": [[]],
    "input_dtypes": ["BFloat16"],
    "output_dtypes": ["Float"],
    "time_created_ns": 1_700_000_000_000_001_000,
    "timeout_ms": 600_000,
    "frames": [
        {"filename": "/x/site-packages/torch/d.py", "line": 9, "name": "all_reduce"},
        {"filename": "/home/train.py", "line": 7, "name": "step"},
    ],
}


def test_an_operation():
    """Name, shapes, types, time and the innermost line of the user's code."""
    dump = {"entries": [OPERATION], "pg_config": {"0": {"desc": "default", "ranks": "[1, 0]"}}}
    found = entries.tables(dump, 1, "trace_1", datetime(2026, 1, 1, tzinfo=UTC))
    (row,) = found.collectives.to_dicts()
    (group,) = found.process_groups.to_dicts()

    assert (row["rank"], row["group"], row["sequence"], row["p2p"]) == (1, "0", 4, False)
    assert (row["backend"], row["operation"], row["state"]) == ("nccl", "all_reduce", "started")
    assert (row["input_sizes"], row["output_sizes"]) == ("4x16, 8", "1")
    assert (row["input_elements"], row["output_elements"]) == (80, 1)
    assert (row["dtype"], row["timeout_s"], row["frame"]) == ("BFloat16 -> Float", 600.0, "/home/train.py:7 in step")
    assert row["created"].timestamp() == 1_700_000_000.000001
    assert (group["description"], group["members"], group["enqueued"]) == ("default", [0, 1], 4)


def test_gloo_retires_its_operations():
    """A retired operation of gloo is over; one of NCCL is not."""
    gloo = OPERATION | {"profiling_name": "gloo:broadcast", "retired": True}
    found = entries.tables({"entries": [gloo, OPERATION | {"retired": True}]}, 0, "t")

    assert found.collectives["state"].to_list() == ["completed", "started"]


def test_damaged_values_are_null():
    """Values of another type are left out."""
    odd = {"process_group": 3, "input_sizes": [["x"]], "frames": [5], "time_created_ns": "now", "timeout_ms": True}
    (row,) = entries.tables({"entries": [odd]}, None, "t").collectives.to_dicts()

    assert [row[name] for name in ("group", "input_sizes", "frame", "created", "timeout_s")] == [None] * 5
