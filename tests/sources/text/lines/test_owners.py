"""The rank and node that wrote a log or a line."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.sources.text.lines import owners


@pytest.mark.parametrize(
    ("name", "rank", "node"),
    [
        ("rank3.log", 3, None),
        ("worker-3.err", 3, None),
        ("workerlog.3", 3, None),
        ("4711_3_log.out", 3, None),
        ("rank2/a.log", 2, None),
        ("attempt_0/3/stderr.log", 3, None),
        ("slurm-77-gpu07.out", None, "gpu07"),
        ("train.node-3.log", None, "node-3"),
        ("slurm-77-gpu-0.out", None, None),
        ("train-4711.out", None, None),
    ],
)
def test_the_name_of_a_log_names_rank_and_node(name: str, rank: int | None, node: str | None) -> None:
    assert owners.of_file(Path("/runs", name)) == (rank, node)


def test_a_line_names_rank_and_node() -> None:
    lines = pl.Series(
        [
            "[Rank 3] Watchdog caught collective operation timeout",
            "slurmstepd-gpu07: error: oom",
            "gpu07:77:99 [3] NCCL WARN x",
            "srun: error: gpu07: task 3: Floating point exception",
            "nothing",
        ]
    )
    rank, node = owners.named(lines)

    assert pl.select(rank=rank, node=node).rows() == [
        (3, None),
        (None, "gpu07"),
        (3, "gpu07"),
        (3, "gpu07"),
        (None, None),
    ]


@pytest.mark.parametrize(("text", "rank"), [("rank 3 ready\n" * 10, 3), ("rank 1\nrank 3\n", None), ("ready\n", None)])
def test_a_task_number_is_a_rank_where_the_lines_name_it(tmp_path: Path, text: str, rank: int | None) -> None:
    log = tmp_path / "train_4711_3.out"
    log.write_text(text)

    assert owners.of_task(log) == rank


@pytest.mark.parametrize(("named", "expected"), [(1, True), (0, False)])
def test_numbered_logs_belong_to_one_job_if_the_later_ones_name_their_ranks(
    tmp_path: Path, named: int, expected: bool
) -> None:
    logs = [tmp_path / f"train_4711_{i}.out" for i in range(2)]
    for log in logs:
        log.write_text(f"global_rank: {named}\n")

    assert owners.are_ranks_of_one_job(logs) is expected


@pytest.mark.parametrize(
    ("name", "text", "rank"),
    [
        ("out.3.log", "[rank 3] ready\n", 3),
        ("mpi-3.stderr", "worker of rank: 3\n", 3),
        ("exp.3.log", "[rank 0] ready\n", None),
        ("train.0.log", "[rank 0] ready\n", None),  # it may hold all ranks
        ("out.0.log", "[rank 0] ready\n", 0),
    ],
)
def test_a_numbered_log_is_of_the_rank_that_its_lines_name(
    tmp_path: Path, name: str, text: str, rank: int | None
) -> None:
    (tmp_path / "out.1.log").write_text("[rank 1] ready\n")
    (tmp_path / name).write_text(text)

    assert owners.of_task(tmp_path / name) == rank


def test_logs_of_nodes_name_different_ranks(tmp_path: Path) -> None:
    logs = [tmp_path / f"{i}.log" for i in range(2)]
    for log, ranks in zip(logs, ("[rank 0] [rank 1]", "[rank 2] [rank 3]"), strict=True):
        log.write_text(ranks)

    assert owners.name_different_ranks(logs)
    assert not owners.name_different_ranks([logs[0], logs[0]])
    assert not owners.name_different_ranks(logs[:1])
