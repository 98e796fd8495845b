"""Dumps of torch's flight recorder: what is read of them, and that a pickle can do no harm."""

import json
import pickle
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.discovery.runs import discover, runs
from loganalyst.sources.flightrecorder import plainpickle, torchpickle
from loganalyst.sources.flightrecorder import reader as flightrecorder
from loganalyst.sources.flightrecorder.plainpickle import MAX_CONTAINERS, RefusedError, loads
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


def refused(data: bytes) -> str:
    with pytest.raises(RefusedError) as error:
        loads(data)
    return str(error.value)


class TestPlainPickle:
    @given(PLAIN, st.integers(2, 5))
    def test_plain_data_is_what_python_reads(self, data, protocol):
        """All protocols that write binary opcodes."""
        assert loads(pickle.dumps(data, protocol)) == data

    def test_tuples_are_lists(self):
        """Nothing that could be hashed is built."""
        assert loads(pickle.dumps(((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)), 2)) == [
            [],
            [1],
            [1, 2],
            [1, 2, 3],
            [1, 2, 3, 4],
        ]

    @pytest.mark.parametrize(
        "harm", [print, datetime(2026, 1, 1, tzinfo=UTC), {1, 2}, Path("x"), bytearray(b"x"), RefusedError("x")]
    )
    def test_what_is_no_plain_data_is_refused(self, harm):
        """Classes, functions, and what is built by calling one."""
        assert "asks for more than plain data" in refused(pickle.dumps({"entries": harm}, 2))

    def test_a_key_that_is_no_text_is_refused(self):
        """Hashing a tuple of tuples can take for ever."""
        assert "is not a text" in refused(pickle.dumps({(1, 2): 3}, 2))

    def test_a_far_memo_place_costs_nothing(self):
        """Python's own unpickler would take 32 GiB for this one."""
        assert loads(b"\x80\x02]r\xff\xff\xff\x7f.") == []

    def test_a_bomb_of_containers_is_refused(self):
        """A byte each, but 56 and more in memory."""
        assert f"more than {MAX_CONTAINERS:,} containers" in refused(b"\x80\x02(" + b"]" * (MAX_CONTAINERS + 1) + b"l.")

    @pytest.mark.parametrize("cut", range(1, 60))
    def test_a_cut_pickle_is_refused(self, cut):
        """Wherever it ends, it ends with a refusal."""
        assert refused(pickle.dumps({"version": "2.10", "entries": [(1, 2.5, "x")]}, 2)[:-cut])

    @pytest.mark.parametrize(
        "data",
        [
            b"\x80\x02u.",
            b"\x80\x02e.",
            b"\x80\x02\x86.",
            b"\x80\x02h\x07.",
            b"\x80\x02}K\x01a.",
            b"\x80\x02X\xff\xff\xff\xffa.",
            b"\x80\x02.",
        ],
    )
    def test_opcodes_without_their_operands_are_refused(self, data):
        """An empty stack, no mark, an unknown memo place, a text longer than the file."""
        assert "damaged at byte" in refused(data)


class TestUsualPickle:
    """What torch writes is left to Python's own reader; the machine says the same."""

    @pytest.mark.parametrize("case", ["rank-asleep", "two-groups-in-other-order"])
    def test_a_real_dump_is_usual(self, case):
        """Pairs of texts are tuples in it."""
        data = (DUMPS / case / "trace_rank_1").read_bytes()
        found = torchpickle.loads(data, MAX_CONTAINERS)

        assert b"\x86" in data
        assert found is not None
        assert found == plainpickle._Machine(data).run()

    @pytest.mark.parametrize("many", [3, 200])
    def test_pairs_of_new_and_of_known_texts(self, many):
        """With memo places below and above 255."""
        data = pickle.dumps([(f"g{n // 2 * k}", f"pg {n * k % 7}") for n in range(many) for k in (1, 2)], 2)

        assert torchpickle.loads(data, MAX_CONTAINERS) == plainpickle._Machine(data).run()

    def test_empty_tuples_are_lists(self):
        """Within others, and as all there is."""
        assert torchpickle.loads(pickle.dumps({"a": (), "b": [(), ("x", "y")]}, 2), MAX_CONTAINERS) == {
            "a": [],
            "b": [[], ["x", "y"]],
        }
        assert torchpickle.loads(pickle.dumps((), 2), MAX_CONTAINERS) == []

    @pytest.mark.parametrize(
        "data",
        [
            pickle.dumps({"entries": print}, 2),
            pickle.dumps({"a": (1, 2, 3)}, 2),
            pickle.dumps({("a", ("b", "c")): 1}, 2),
            pickle.dumps([(("a", "b"), "c")], 2),
            pickle.dumps(["\ud800"], 2),
            pickle.dumps(["x"], 4),
            b"\x80\x02]r\xff\xff\xff\x7f.",
            b"\x80\x02]",
            b"\x80\x02u.",
            b"\x80\x02X\xff\xff\xff\xffa.",
            b"\x80\x02h\x07.",
            b"",
        ],
    )
    def test_all_else_is_left_to_the_machine(self, data):
        """Calls, deeper tuples, broken texts, far memo places, newer protocols, damage."""
        assert torchpickle.loads(data, MAX_CONTAINERS) is None

    def test_more_containers_than_allowed_are_left_to_the_machine(self):
        """Counted before they are made."""
        assert torchpickle.loads(b"\x80\x02(" + b"]" * 11 + b"l.", 10) is None
        assert torchpickle.loads(b"\x80\x02(" + b"]" * 8 + b"l.", 10) == [[]] * 8

    @given(PLAIN | st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3))), st.binary(max_size=6), st.data())
    def test_what_it_reads_the_machine_reads_alike(self, value, noise, draw):
        """Of pickles, and of damaged ones that the machine does not refuse."""
        data = pickle.dumps(value, 2)
        at = draw.draw(st.integers(0, len(data)))
        data = data[:at] + noise + data[at + len(noise) :]
        found = torchpickle.loads(data, MAX_CONTAINERS)
        if found is not None and "..." not in str(found) and _keyed(found):
            with suppress(RefusedError, LookupError, TypeError, ValueError):
                assert str(found) == str(plainpickle._Machine(data).run())


def _keyed(value: object) -> bool:
    """Whether all keys are texts; the machine refuses others."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(isinstance(key, str) for key in (value if isinstance(value, dict) else ())) and all(map(_keyed, inner))


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
    def test_json_says_the_same_but_for_frames(self, rank):
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
        """Whatever stands where the format has something."""
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
        """Whose they are is not told."""
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
