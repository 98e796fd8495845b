"""Which collective hangs, and every rank that keeps the others waiting, compared with torch's own analyser."""

import os
from pathlib import Path
from typing import Any

import pytest

import loganalyst
from loganalyst import Store, query
from loganalyst.features.collectives import ranges
from loganalyst.pipeline import diagnose_paths
from tests.recorders import BEGIN, op, write

DUMPS = Path(__file__).parents[2] / "fixtures" / "collectives"
WORLD = {"0": [0, 1, 2, 3]}
DONE, OPEN = op("all_reduce"), op("all_reduce", state="started")
FAULTS = {
    "two missing": {0: [DONE, DONE, OPEN], 1: [DONE, DONE], 2: [DONE, DONE, OPEN], 3: [DONE, DONE]},
    "other operation": {0: [DONE, OPEN], 1: [DONE, OPEN], 2: [DONE, op("broadcast", state="started")], 3: [DONE, OPEN]},
    "other size": {r: [DONE, op("all_reduce", 8 + (r == 1), state="started")] for r in range(4)},
    "other type": {r: [DONE, op("all_reduce", dtype="Half" if r == 3 else "Float", state="started")] for r in range(4)},
    "no dump of one": {0: [DONE, OPEN], 1: [DONE, OPEN], 3: [DONE, OPEN]},
    "all well": {rank: [DONE, DONE] for rank in range(4)},
}  # fmt: skip


def features(path: Path) -> dict[str, Any]:
    values = loganalyst.diagnose(path).features.values
    return {k.removeprefix("collective_"): v for k, v in values.items() if k.startswith("collective_")}


def faults(path: Path) -> tuple[Any, ...]:
    """Ranks missing, ranks that differ, causes."""
    found = loganalyst.diagnose(path)
    values = found.features.values
    return values["collective_missing_ranks"], values["collective_mismatch_ranks"], [c.id for c in found.causes]


class TestRealJobs:
    """Four ranks over gloo, recorded by fixtures/collectives/generate.py."""

    @pytest.mark.parametrize(
        ("case", "missing", "differ", "cause"),
        [
            ("rank-asleep", "2", None, ["collective-rank-missing"]),
            ("two-ranks-elsewhere", "1, 3", None, ["collective-rank-missing"]),
            ("other-operation", None, "3", ["collective-mismatch"]),
            ("operation-left-out", None, "1", ["collective-mismatch"]),
            ("two-groups-in-other-order", None, None, []),  # gloo does not record the members of these groups
            ("all-well", None, None, []),
        ],
    )
    def test_every_faulty_rank_is_named(self, case, missing, differ, cause):
        """From the pickles, and from the JSON of the same moment."""
        assert faults(DUMPS / case) == (missing, differ, cause)
        assert faults(DUMPS / "json" / case) == (missing, differ, cause)

    def test_the_hanging_operation(self):
        """Its kind, number, size and user frame, and the last operation of the missing rank."""
        found = {k: v for k, v in features(DUMPS / "rank-asleep").items() if v is not None}

        assert found.pop("waited_s") > 0  # by the time of the file, which a copy may change
        assert found == {
            "dump_count": 4, "world_size": 4, "no_dump_count": 0, "stuck_count": 1, "operation": "all_reduce",
            "group": "default_pg", "sequence": 11, "earlier_count": 0, "size": "16x4", "dtype": "Float",
            "frame": "/job/train.py:5 in step", "timeout_s": 600.0, "waiting_count": 3, "waiting_ranks": "0-1, 3",
            "missing_count": 1, "missing_ranks": "2",
            "missing_last": "barrier (number 10 of default_pg) at /job/train.py:6 in step",
            "circle_count": 0, "mismatch_count": 0,
        }  # fmt: skip

    def test_the_witness_of_the_cause(self):
        """The cause carries the first faulty rank and its dump."""
        cause = loganalyst.diagnose(DUMPS / "two-ranks-elsewhere").causes[0]

        assert (cause.rank, cause.file, cause.label) == (1, "trace_rank_1", "nccl_timeout")

    def test_both_sides_of_a_mismatch(self):
        """Both operations, with their lines."""
        found = features(DUMPS / "other-operation")

        assert (found["mismatch_what"], found["mismatch_sequence"], found["mismatch_group"]) == (
            "operation",
            5,
            "default_pg",
        )
        assert (
            found["mismatch_found"] == "all_gather of 32 Float (number 5 of default_pg) at /job/train.py:4 in <module>"
        )
        assert (
            found["mismatch_expected"]
            == "all_reduce of 32 Float (number 5 of default_pg) at /job/train.py:6 in <module>"
        )


class TestRules:
    """Dumps as NCCL writes them."""

    @pytest.mark.parametrize(
        ("case", "missing", "differ", "causes"),
        [
            ("two missing", "1, 3", None, ["collective-rank-missing"]),
            ("other operation", None, "2", ["collective-mismatch"]),
            ("other size", None, "1", ["collective-mismatch"]),
            ("other type", None, "3", ["collective-mismatch"]),
            ("no dump of one", None, None, ["collective-rank-missing"]),
            ("all well", None, None, []),
        ],
    )
    def test_faults(self, tmp_path, case, missing, differ, causes):
        """Ranks and causes."""
        assert faults(write(tmp_path / "x", FAULTS[case], WORLD)) == (missing, differ, causes)

    @pytest.mark.parametrize("case", FAULTS)
    def test_torch_names_the_same_ranks(self, tmp_path, case):
        """`torchfrtrace`: ranks missing from the first collective that lacks some, ranks whose operation differs."""
        folder = write(tmp_path / "x", FAULTS[case], WORLD)
        found = features(folder)

        assert (found["missing_ranks"] or "", found["mismatch_ranks"] or "") == oracle(folder)

    def test_one_rank_is_missing_and_one_differs(self, tmp_path):
        """Both are named in the symptoms and as evidence of the cause."""
        ranks = {0: [DONE, OPEN], 1: [DONE], 2: [DONE, op("broadcast", state="started")], 3: [DONE, OPEN]}
        found = loganalyst.diagnose(write(tmp_path / "x", ranks, WORLD))
        besides = next(e.text for e in found.causes[0].evidence if e.id == "others-never-came")

        assert [c.id for c in found.causes] == ["collective-mismatch"]
        assert besides == "rank 1 never entered all_reduce number 2 of group 0"
        assert [s.text for s in found.symptoms] == [
            "inside all_reduce number 2 of group 0: ranks 0, 2-3",
            "others wait for rank 1",
            "operation 2 of group 0 is a different one on rank 2",
        ]

    def test_a_grid_of_groups(self, tmp_path):
        """Eight ranks in pairs and in two rows of four; rank 5 sleeps, and all others wait in a chain for it."""
        pairs = {str(1 + i): [2 * i, 2 * i + 1] for i in range(4)}
        rows = {str(10 + i): [i, i + 2, i + 4, i + 6] for i in range(2)}
        ranks = {}
        for rank in range(8):
            pair, row = (op("all_reduce", group=str(g)) for g in (1 + rank // 2, 10 + rank % 2))
            waits = {5: [], 4: [{**pair, "state": "started"}]}.get(rank, [pair, {**row, "state": "started"}])
            ranks[rank] = [pair, row, *waits]

        assert faults(write(tmp_path / "x", ranks, {"0": range(8), **pairs, **rows})) == (
            "5",
            None,
            ["collective-rank-missing"],
        )

    def test_a_missing_dump_leaves_the_missing_ranks_open(self, tmp_path):
        """No report says that none is missing, and the cause is only possible."""
        path = write(tmp_path / "x", FAULTS["no dump of one"], WORLD)
        found, answer = features(path), loganalyst.diagnose(path)

        assert (found["no_dump_count"], found["no_dump_ranks"], found["missing_count"]) == (1, "2", None)
        assert answer.status == "cause_unknown"

    def test_a_world_size_that_only_the_config_has(self, tmp_path):
        """Ranks beyond all groups in the dumps left no dump."""
        path = write(tmp_path / "x", {0: [DONE], 1: [DONE]}, {"0": [0, 1]})
        (path / "config.yaml").write_text("world_size: 4\n")

        assert (features(path)["world_size"], features(path)["no_dump_ranks"]) == (4, "2-3")

    def test_all_ranks_are_inside(self, tmp_path):
        """Then no rank is to blame."""
        path = write(tmp_path / "x", {rank: [DONE, OPEN] for rank in range(4)}, WORLD)

        assert (features(path)["missing_count"], features(path)["waiting_ranks"]) == (0, "0-3")
        assert faults(path) == (None, None, ["collective-transport"])

    def test_a_rank_that_itself_waits_is_not_to_blame(self, tmp_path):
        """Ranks 2 and 3 wait in the world, rank 1 in a group of 0 and 1, rank 0 computes."""
        ranks = {0: [DONE], 1: [DONE, op("all_gather", group="1", state="started")], 2: [DONE, OPEN], 3: [DONE, OPEN]}
        found = features(write(tmp_path / "x", ranks, {**WORLD, "1": [0, 1]}))

        assert (found["missing_ranks"], found["circle_count"]) == ("0", 0)

    def test_ranks_that_wait_in_a_circle(self, tmp_path):
        """Rank 0 in one group and rank 1 in the other wait for each other; 2 and 3 wait for both."""
        ranks = {
            0: [DONE, op("all_reduce", group="1", state="started")],
            1: [DONE, op("all_reduce", group="2", state="started")],
            2: [DONE, OPEN],
            3: [DONE, OPEN],
        }
        path = write(tmp_path / "x", ranks, {**WORLD, "1": [0, 1], "2": [0, 1]})

        assert (features(path)["missing_ranks"], features(path)["circle_ranks"]) == ("0-1", "0-1")
        assert faults(path)[2] == ["collective-order"]

    def test_a_receive_whose_sender_never_sent(self, tmp_path):
        """Numbers in the operation count within the group; rank 5 is the second of it."""
        groups = {"0": [4, 5], "1": [4, 5, 6]}
        ranks = {4: [DONE, op("recv 0<-1", state="started")], 5: [DONE], 6: []}

        assert faults(write(tmp_path / "x", ranks, groups)) == ("5", None, ["collective-rank-missing"])

    def test_a_receive_whose_sender_is_inside_misses_no_rank(self, tmp_path):
        """Both ends are open: neither rank is missing."""
        ranks = {0: [op("recv 0<-1", state="started")], 1: [op("send 1->0", state="started")]}
        found = features(write(tmp_path / "x", ranks, {"0": [0, 1]}))

        assert (found["missing_count"], found["stuck_count"], found["waiting_ranks"]) == (0, 2, "0-1")

    def test_groups_of_one_name_differ_by_their_ranks(self, tmp_path):
        """Each pair calls its group "1"; the second pair is further, and no rank waits."""
        one, two = op("all_reduce", group="1"), op("all_reduce", 5, group="1")
        folder = write(tmp_path / "x", {0: [one], 1: [one]}, {"1": [0, 1]})
        write(folder, {2: [two, two], 3: [two, two]}, {"1": [2, 3]})

        assert faults(folder) == (None, None, [])

    def test_uneven_operations_may_differ_in_size(self, tmp_path):
        """All-to-all with different splits on each rank."""
        ranks = {rank: [op("all_to_all", 4 + rank)] for rank in range(4)}

        assert features(write(tmp_path / "x", ranks, WORLD))["mismatch_count"] == 0

    def test_without_a_majority_all_are_named(self, tmp_path):
        """Two against two."""
        ranks = {rank: [op("all_reduce", 4 + rank % 2, state="started")] for rank in range(4)}

        assert features(write(tmp_path / "x", ranks, WORLD))["mismatch_ranks"] == "0-3"

    def test_the_watchdogs_line_is_the_consequence(self, tmp_path):
        """With the job's log and the dumps, the missing rank comes first."""
        write(tmp_path / "nccl", FAULTS["two missing"], WORLD)
        (tmp_path / "slurm-7.out").write_text(
            "step 1 loss 2.0\n[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught "
            "collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, "
            "Timeout(ms)=600000) ran for 600060 milliseconds before timing out.\n"
        )
        (cause,) = loganalyst.diagnose(tmp_path).causes

        assert (cause.id, cause.consequences) == ("collective-rank-missing", ("A collective operation timed out",))


class TestOtherMoments:
    """Dumps of different moments: only operations that both can show are compared."""

    def write(self, folder: Path, ranks: dict[int, Any], at: dict[int, float], **more: Any) -> Path:
        """The dumps of `ranks`, written `at` seconds after the first operation was created (else now)."""
        write(folder, ranks, more.get("groups", WORLD))
        for rank, seconds in at.items():
            file = folder / f"nccl_trace_rank_{rank}"
            os.utime(file, (BEGIN / 1e9 + seconds,) * 2)
        return folder

    def test_a_rank_dumped_earlier_is_not_missing(self, tmp_path):
        """The others finished operations that need all ranks, so rank 1 arrived after its dump."""
        far = [DONE] * 6 + [OPEN]
        found = features(write(tmp_path / "x", {0: far, 1: [DONE, DONE], 2: far, 3: [DONE] * 6}, WORLD))

        assert (found["missing_ranks"], found["earlier_ranks"], found["earlier_count"]) == ("3", "1", 1)

    def test_an_operation_that_others_finished_does_not_hang(self, tmp_path):
        """Rank 1 was inside the second operation when it was dumped; the others have finished two more since."""
        ranks = {0: [DONE] * 4, 1: [DONE, OPEN], 2: [DONE] * 4, 3: [DONE] * 4}

        assert features(write(tmp_path / "x", ranks, WORLD))["stuck_count"] == 0

    def test_a_finished_broadcast_proves_nothing_about_the_others(self, tmp_path):
        """Its root need not wait, so rank 3 may never have arrived."""
        sent = [DONE, op("broadcast"), op("broadcast"), OPEN]
        found = features(write(tmp_path / "x", {0: sent, 1: sent, 2: sent, 3: [DONE]}, WORLD))

        assert (found["missing_ranks"], found["earlier_count"]) == ("3", 0)

    def test_a_dump_from_before_the_operation(self, tmp_path):
        """By file time rank 1 was dumped a minute before rank 0 entered, so whether it arrived is not known."""
        late = {**OPEN, "time_created_ns": BEGIN + 100_000_000_000}
        ranks = {0: [DONE, late], 1: [DONE], 2: [DONE, late], 3: [DONE, late]}
        found = features(self.write(tmp_path / "x", ranks, {1: 40}))

        assert (found["missing_ranks"], found["missing_count"], found["earlier_ranks"]) == (None, None, "1")

    def test_a_dump_from_after_the_start_of_the_operation(self, tmp_path):
        """The rank is missing."""
        ranks = {0: [DONE, OPEN], 1: [DONE], 2: [DONE, OPEN], 3: [DONE, OPEN]}
        found = features(self.write(tmp_path / "x", ranks, {1: 40}))

        assert (found["missing_ranks"], found["earlier_count"]) == ("1", 0)

    def test_a_receiver_dumped_before_the_send(self, tmp_path):
        """Whether it arrived to receive is not known."""
        send = {**op("send 0->1", state="started"), "time_created_ns": BEGIN + 100_000_000_000}
        found = features(self.write(tmp_path / "x", {0: [DONE, send], 1: [DONE]}, {1: 40}, groups={"0": [0, 1]}))

        assert (found["missing_ranks"], found["earlier_ranks"]) == (None, "1")

    @pytest.mark.parametrize(("seconds", "symptoms"), [(1.2, []), (60.0, ["collective-stuck"])])
    def test_an_operation_that_has_just_begun_is_no_hang(self, tmp_path, seconds, symptoms):
        """A dump on demand finds all ranks in some operation (the second, created a second after the first)."""
        path = self.write(tmp_path / "x", {rank: [DONE, OPEN] for rank in range(4)}, dict.fromkeys(range(4), seconds))
        found = loganalyst.diagnose(path)

        assert [s.id for s in found.symptoms] == symptoms
        assert found.features.values["collective_waited_s"] == pytest.approx(seconds - 1)


def test_dumps_named_individually_are_one_run(tmp_path):
    """As a shell expands `traces/*`."""
    path = write(tmp_path / "x", FAULTS["two missing"], WORLD)
    (found,) = diagnose_paths(sorted(path.iterdir()))

    assert found.features.values["collective_missing_ranks"] == "1, 3"


def test_a_store_keeps_the_dumps(tmp_path):
    """Both tables can be queried."""
    store = Store(tmp_path / "store")
    store.ingest([DUMPS / "rank-asleep"])
    last = "SELECT rank, max(sequence) AS last FROM collectives GROUP BY rank ORDER BY rank"

    assert query.ask(store, last).rows() == [(0, 11), (1, 11), (2, 10), (3, 11)]
    assert query.ask(store, "SELECT members FROM process_groups").rows() == [([0, 1, 2, 3],)] * 4


def test_ranges():
    """Runs of ranks, the first twenty of them."""
    assert [ranges(r) for r in ((), (3,), (0, 1, 2, 7), range(0, 100, 2))] == [
        "", "3", "0-2, 7", ", ".join(map(str, range(0, 40, 2))) + ", …",
    ]  # fmt: skip


def oracle(folder: Path) -> tuple[str, str]:
    """Ranks that torch's analyser finds missing, and those whose collective it finds to differ."""
    builder = pytest.importorskip("torch.distributed.flight_recorder.components.builder")
    from torch.distributed.flight_recorder.components.config_manager import JobConfig
    from torch.distributed.flight_recorder.components.loader import read_dir

    args = JobConfig().parse_args([str(folder), "--allow-incomplete-ranks"])
    details, version = read_dir(args)
    collectives = builder.build_db(details, args, version).collectives
    missing = {rank for c in collectives for rank in c.missing_ranks or ()}
    differ = {rank for c in collectives for rank in c.mismatch_collectives or ()}
    return ranges(missing), ranges(differ)
