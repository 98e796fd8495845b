"""Features of ranks and nodes compared with each other, and of survived faults."""

from pathlib import Path

import pytest

from loganalyst.features import ranks
from loganalyst.features.context import Context
from loganalyst.model import FeatureValue, Run, Source, table
from loganalyst.sources.ingest import ingest
from tests.blame.blame_cases import DONE, OOM, steps, trace, watchdog

XID = "kernel: NVRM: Xid (PCI:0000:4e:00): 79, pid=4711, GPU has fallen off the bus.\n"


def values(folder: Path, **files: str) -> dict[str, FeatureValue]:
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    run = ingest(folder / f"{next(iter(files))}.log" if len(files) == 1 else folder)
    computed = ranks.compute(Context(run=run, curves=(), findings=table("findings")))
    return {k: v[0] if isinstance(v, tuple) else v for k, v in computed.items()}


def waited(*numbers: int) -> str:
    return "".join(watchdog(n) + "\n" for n in numbers)


def test_every_feature_is_declared(tmp_path: Path) -> None:
    """What is computed is declared."""
    found = values(tmp_path, job=steps(1, 5) + trace(OOM) + steps(6, 40) + waited(0, 1, 3))

    assert set(found) <= {f.name for f in ranks.FEATURES}


def test_without_a_log_nothing_is_known() -> None:
    """Not even zero."""
    run = Run(sources=(Source("metrics.csv", "csv", 1),))

    assert ranks.compute(Context(run=run, curves=(), findings=table("findings"))) == {}


def test_a_survived_fault(tmp_path: Path) -> None:
    """A fault after which training continued is counted, with its place and what followed."""
    found = values(tmp_path, job=steps(1, 5) + trace(OOM) + steps(6, 405) + DONE)

    assert (found["log_survived_count"], found["log_survived_at"]) == (1, "job.log:11")
    assert (found["log_survived_progress"], found["log_survived_message"]) == (400, OOM[:160])


def test_earlier_starts_that_failed(tmp_path: Path) -> None:
    """Only sessions before the last one count, with the root-cause line of the last that failed."""
    found = values(tmp_path, job=steps(1, 5) + trace(OOM) + steps(1, 40))

    assert (found["log_earlier_failures"], found["log_earlier_at"]) == (1, "job.log:11")
    assert found["log_earlier_message"] == OOM[:160]
    assert values(tmp_path, job=steps(1, 5) + trace(OOM))["log_earlier_failures"] == 0


def test_a_final_fault_is_not_survived(tmp_path: Path) -> None:
    """The fault that ended the run does not count."""
    assert values(tmp_path, job=steps(1, 5) + trace(OOM))["log_survived_count"] == 0


@pytest.mark.parametrize(
    ("log", "waiting", "silent"),
    [
        (waited(0, 1, 2, 4, 5, 6, 7), "0-2, 4-7", "3"),
        (waited(0, 1, 2) + "[rank3]: warming up\n" + trace("KeyError: 'a'", "[rank3]: "), "0-2", "3"),
        (
            "n1:7:9 [0] NCCL INFO comm 0x5 rank 0 nranks 4 cudaDev 0 busId 1 - Init START\n" + waited(0, 1, 2),
            "0-2",
            "3",
        ),
        (waited(0, 1, 2, 3), "0-3", None),
        # an excerpt: most are not in it
        (waited(6, 7), "6-7", None),
        (waited(0, 1) + "[rank99999999999]: " + OOM + "\n", "0-1", None),
        (
            trace("RuntimeError: [Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 2000 ms", "[rank0]: "),
            "0",
            "1, 3",
        ),
    ],
)
def test_silent_ranks(tmp_path: Path, log: str, waiting: str, silent: str | None) -> None:
    """The ranks that did not complain while most others did are named."""
    found = values(tmp_path, job=steps(1, 9) + log)

    assert (found.get("log_ranks_waiting"), found.get("log_ranks_silent")) == (waiting, silent)
    assert found["log_ranks_silent_count"] == (len(silent.split(",")) if silent else 0)


def test_the_odd_node(tmp_path: Path) -> None:
    """Of two nodes, the one with machine faults is named, with its first fault."""
    log = steps(1, 9) + "gpu01: step 9 done\ngpu02: " + XID + "gpu02: " + XID + "gpu01: wandb: WARNING slow\n"
    found = values(tmp_path, job=log)

    assert (found["log_odd_node"], found["log_odd_count"], found["log_odd_at"]) == ("gpu02", 2, "job.log:11")


def test_no_odd_node(tmp_path: Path) -> None:
    """If both nodes have such faults, or only one node is known, none is odd."""
    both = values(tmp_path, job=steps(1, 9) + "gpu01: " + XID + "gpu02: " + XID)
    alone = values(tmp_path, job=steps(1, 9) + "gpu01: " + XID)

    assert "log_odd_node" not in both
    assert "log_odd_node" not in alone


def test_a_rank_that_stays_behind(tmp_path: Path) -> None:
    """The log that ends steps before all others is named; one step less is usual."""
    behind = values(tmp_path, rank0=steps(1, 90), rank1=steps(1, 89), rank2=steps(1, 40) + trace("KeyError: 'a'"))
    level = values(tmp_path, rank0=steps(1, 90), rank1=steps(1, 89), rank2=steps(1, 90))

    assert (behind["log_behind_file"], behind["log_behind_steps"], behind["log_behind_rank"]) == ("rank2.log", 49, 2)
    assert level["log_behind_steps"] == 0


def test_a_rank_that_stays_behind_in_one_log(tmp_path: Path) -> None:
    """By the prefixes of one file; a step or two is usual, and two ranks are too few."""

    def log(ranks: int, ends: dict[int, int]) -> str:
        steps = ((r, s) for s in range(1, 41) for r in range(ranks) if s <= ends.get(r, 40))
        return "".join(f"[rank{r}]: step {s} loss {5 / s:.4f}\n" for r, s in steps)

    behind, level, few = (values(tmp_path, job=log(*case)) for case in ((4, {2: 21}), (4, {2: 39}), (2, {1: 9})))

    assert (behind["log_behind_name"], behind["log_behind_steps"], behind["log_behind_rank"]) == (
        "rank 2 in job.log",
        19,
        2,
    )
    assert level["log_behind_steps"] == 0
    assert "log_behind_steps" not in few


@pytest.mark.parametrize(("ended", "failed"), [(trace(OOM, "[rank2]: "), True), ("[rank2]: step 40 loss 1.0\n", False)])
def test_a_silent_rank_whose_own_error_is_shown(tmp_path: Path, ended: str, failed: bool) -> None:
    """It did not fail to arrive: its error says why it is silent."""
    log = "".join(f"[rank{rank}]: step 1 loss 2.0\n" for rank in range(4)) + ended + waited(0, 1, 3)
    found = values(tmp_path, job=log)

    assert (found["log_ranks_silent"], found["log_ranks_silent_failed"]) == ("2", failed)
