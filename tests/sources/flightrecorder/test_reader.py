"""Dumps of torch's flight recorder: tables, gaps, and the runs they belong to."""

import json
import pickle
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.discovery.runs import discover, runs
from loganalyst.sources.flightrecorder import reader as flightrecorder
from loganalyst.sources.formats import reader
from loganalyst.sources.ingest import ingest
from tests.recorders import dump, op, write

DUMPS = Path(__file__).parents[3] / "fixtures" / "collectives"


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def read(path: Path) -> Tables:
    return Tables.concat(flightrecorder.read(path))


class TestReader:
    def test_a_real_dump(self):
        """gloo, rank 0 of four, waiting for rank 2: eleven operations, the last one not over."""
        tables = read(DUMPS / "rank-asleep" / "trace_rank_0")
        last = tables.collectives.drop("created", "file").row(-1, named=True)

        assert tables.gaps.height == 0
        assert tables.collectives["operation"].to_list() == ["all_reduce", "barrier"] * 5 + ["all_reduce"]
        assert tables.collectives["state"].to_list() == ["completed"] * 10 + ["scheduled"]
        assert last == {
            "rank": 0, "group": "0", "sequence": 11, "p2p": False, "operation": "all_reduce", "backend": "gloo",
            "state": "scheduled", "input_sizes": "16x4", "output_sizes": "16x4", "input_elements": 64,
            "output_elements": 64, "dtype": "Float", "started": None, "completed": None, "timeout_s": 600.0,
            "frame": "/job/train.py:5 in step", "record": 10,
        }  # fmt: skip
        assert tables.process_groups.drop("dumped").to_dicts() == [{
            "rank": 0, "group": "0", "description": "default_pg", "members": [0, 1, 2, 3], "enqueued": 11,
            "file": "trace_rank_0",
        }]  # fmt: skip

    @pytest.mark.parametrize("rank", range(4))
    def test_json_equals_the_pickle_except_frames(self, rank):
        """Both forms, of one moment."""
        told = read(DUMPS / "two-ranks-elsewhere" / f"trace_rank_{rank}")
        again = read(DUMPS / "json" / "two-ranks-elsewhere" / f"trace_rank_{rank}.json")

        assert again.collectives["frame"].null_count() == again.collectives.height
        assert again.collectives.drop("frame", "file").equals(told.collectives.drop("frame", "file"))
        assert again.process_groups.drop("file", "dumped").equals(told.process_groups.drop("file", "dumped"))

    def test_times_of_nccl(self, tmp_path):
        """Nanoseconds since 1970; 0 in JSON and None in pickles where it did not happen."""
        told = dump([op("all_reduce", state="started")], {"0": [0, 1]})
        told["entries"][0]["time_discovered_completed_ns"] = 0
        (tmp_path / "x3.json").write_text(json.dumps(told))
        row = read(tmp_path / "x3.json").collectives.row(0, named=True)

        assert (row["rank"], row["state"], row["completed"]) == (3, "started", None)
        assert row["created"] == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
        assert row["started"] == datetime(2023, 11, 14, 22, 13, 20, 1, tzinfo=UTC)

    def test_of_many_operations_the_last_and_the_open_ones_are_kept(self, tmp_path):
        """The sequence number of a group is that of all its operations."""
        ops = [op("all_reduce", state="started", group="1"), *[op("all_reduce")] * 2000]
        (tmp_path / "nccl_trace_rank_0").write_bytes(pickle.dumps(dump(ops, {"0": [0, 1], "1": [0]}), 2))
        tables = read(tmp_path / "nccl_trace_rank_0")

        assert tables.collectives["record"].to_list() == [0, *range(1937, 2001)]
        assert tables.process_groups["enqueued"].to_list() == [2000, 1]

    def test_a_group_whose_operations_may_be_overwritten_has_no_last_one(self, tmp_path):
        """Only a recorder that still has its first operation tells that a group did nothing."""
        groups = {"0": [0, 1], "1": [0, 1]}
        (tmp_path / "t0").write_bytes(pickle.dumps(dump([op("all_reduce")], groups, first=500), 2))
        (tmp_path / "t1").write_bytes(pickle.dumps(dump([op("all_reduce")], groups), 2))

        assert read(tmp_path / "t0").process_groups["enqueued"].to_list() == [501, None]
        assert read(tmp_path / "t1").process_groups["enqueued"].to_list() == [1, 0]

    @pytest.mark.parametrize(
        ("name", "data", "why"),
        [
            ("rank_0", pickle.dumps({"pg_config": print, "pg_status": {}}), "asks for more than plain data"),
            ("rank_0.json", b'{"pg_config": {}, "pg_status": {}', "Expecting ',' delimiter"),
            ("rank_0.json", b'{"pg_config": ' + b"[" * 60_000 + b', "pg_status"', "recursion"),
            ("rank_0", pickle.dumps(["pg_config", "pg_status"], 2), "not a dictionary"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_read_is_a_gap(self, tmp_path, name, data, why):
        """Why, and all the bytes."""
        (tmp_path / name).write_bytes(data)
        (gap,) = read(tmp_path / name).gaps.to_dicts()

        assert reader(tmp_path / name, data) is flightrecorder
        assert (gap["offset"], gap["bytes"]) == (0, len(data))
        assert why in gap["why"]

    @given(PLAIN, st.dictionaries(st.sampled_from(["entries", "pg_config"]), PLAIN))
    def test_no_content_raises(self, tmp_path_factory, inner, outer):
        """Any value in place of one that the format defines."""
        keys = (
            "process_group",
            "profiling_name",
            "state",
            "input_sizes",
            "input_dtypes",
            "time_created_ns",
            "frames",
            "is_p2p",
            "record_id",
        )
        entry = dict.fromkeys(keys, inner)
        told = {"pg_config": {"0": {"ranks": inner, "desc": inner}, "1": inner}, "entries": [entry, inner], **outer}
        file = tmp_path_factory.mktemp("any") / "rank_1"
        file.write_bytes(pickle.dumps(told, 4))

        assert read(file).process_groups.height >= 1


class TestDiscovery:
    def test_a_folder_of_dumps_beside_a_log_belongs_to_its_run(self, tmp_path):
        """The log is the run; its dumps are read with it."""
        write(tmp_path / "nccl", {0: [op("all_reduce")], 1: [op("all_reduce")]}, {"0": [0, 1]})
        (tmp_path / "train.log").write_text("step 1 | loss 2.0\nstep 2 | loss 1.5\n")
        run = ingest(tmp_path)

        assert [s.path for s in run.sources] == ["nccl/nccl_trace_rank_0", "nccl/nccl_trace_rank_1", "train.log"]
        assert run.process_groups["rank"].to_list() == [0, 1]
        assert run.collectives["file"].to_list() == ["nccl/nccl_trace_rank_0", "nccl/nccl_trace_rank_1"]

    @pytest.mark.parametrize("names", [("metrics.csv",), ("slurm-1.out", "config.yaml")])
    def test_dumps_in_the_folder_of_a_run_belong_to_it(self, tmp_path, names):
        """Side by side with metrics, or with a job's log."""
        write(tmp_path, {0: [op("all_reduce")]}, {"0": [0, 1]})
        for name in names:
            (tmp_path / name).write_text("step,loss\n1,2.0\n")

        assert [f.name for f in discover(tmp_path).files] == sorted(["nccl_trace_rank_0", *names])

    def test_dumps_beside_the_logs_of_several_jobs_are_a_run_of_their_own(self, tmp_path):
        """It is unknown which job they belong to."""
        write(tmp_path, {0: [op("all_reduce")], 1: [op("all_reduce")]}, {"0": [0, 1]})
        for job in (17, 18):
            (tmp_path / f"slurm-{job}.out").write_text("step 1 loss 2.0\n")

        assert [[f.name for f in found.files] for found in runs(tmp_path)] == [
            ["slurm-17.out"], ["slurm-18.out"], ["nccl_trace_rank_0", "nccl_trace_rank_1"],
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "name",
        ["nccl_trace_rank_7", "comm_lib_trace_rank_7", "fr_trace_7", "x_rank7", "trace_rank_7.json", "nccl_dump7.pkl"],
    )
    def test_names_of_dumps(self, tmp_path, name):
        """As torch names them by default, and as users do."""
        (tmp_path / name).write_bytes(json.dumps(dump([op("barrier")], {"0": [7, 8]})).encode())

        assert ingest(tmp_path).process_groups["rank"].to_list() == [7]
