"""Failures in the scheduler's accounts, by node, user, partition and reason."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

import loganalyst
from loganalyst.auditing.jobaccounts import COLUMNS, MAX_NODES, accounts, hosts
from loganalyst.auditing.newfindings import scan
from loganalyst.model import table
from tests.auditing.test_newfindings import Kept

HEADER = "JobID|JobName|User|Partition|State|ExitCode|Start|End|NodeList|Reason"


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2026, 1, number, hour, tzinfo=UTC)


def row(job: object, state: str, node: str, day: int = 5, user: str = "ann") -> str:
    """A job that took an hour of a day in January 2026 (the 5th is a Monday)."""
    return f"{job}|train|{user}|gpu|{state}|0:0|2026-01-{day:02}T00:00:00|2026-01-{day:02}T01:00:00|{node}|None"


def dump(folder: Path) -> Path:
    """100 jobs on ten nodes: those of n03 fail, and one elsewhere; steps and jobs that were cancelled do not count."""
    folder.mkdir(parents=True)
    rows = [
        row(i, "NODE_FAIL" if i % 10 == 3 or i == 50 else "COMPLETED", f"n[{i % 10:02}]", 5 + i // 10)
        for i in range(100)
    ]
    rows += ["3.batch|batch|||FAILED|1:0|2026-01-05T00:00:00|2026-01-05T01:00:00|n03|"]
    rows += [row(200 + i, "CANCELLED by 7", "n04", user="bob") for i in range(9)]
    (folder / "sacct.psv").write_text("\n".join([HEADER, *rows, rows[3]]) + "\n")
    (folder / "slurm-1.out").write_text("step 1 loss 2.5\nstep 2 loss 2.4\n")
    return folder


def test_the_node_that_fails_more_than_chance_is_named(tmp_path: Path) -> None:
    """Counts are exact, by week; no other node is named."""
    found = loganalyst.audit([dump(tmp_path / "logs")], jobs=1).accounts
    (named,) = found.filter("named").to_dicts()
    (reason,) = found.filter(pl.col("by") == "reason").to_dicts()

    assert found.schema == COLUMNS
    assert [named[k] for k in ("by", "value", "jobs", "failed", "other_jobs", "other_failed")] == [
        "node",
        "n03",
        10,
        10,
        90,
        1,
    ]
    assert named["q"] < 1e-8
    assert (named["first"], named["last"]) == (day(5, 1), day(14, 1))
    assert named["weeks"] == [
        {"week": day(5), "jobs": 7, "failed": 7},
        {"week": day(12), "jobs": 3, "failed": 3},
    ]
    assert (reason["value"], reason["jobs"], reason["failed"], reason["q"]) == ("NODE_FAIL", 11, 11, None)
    assert found.filter(pl.col("by").is_in(["user", "partition"])).select("value", "jobs", "failed").rows() == [
        ("gpu", 100, 11),
        ("ann", 100, 11),
    ]


def test_a_scan_reports_the_node_once(tmp_path: Path) -> None:
    """With its jobs, not its runs."""
    sink = Kept()
    (first,) = scan([dump(tmp_path / "logs")], tmp_path / "store", sink, jobs=1).new
    again = scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1).new

    assert (first["kind"], first["node"], first["runs"], first["failed"]) == ("node", "n03", 10, 10)
    assert again == []


def test_without_accounts_there_are_none() -> None:
    """Nothing is made up."""
    assert accounts(table("jobs")).equals(pl.DataFrame(schema=COLUMNS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n1", ["n1"]),
        ("n[1-3,07],gpu01", ["n1", "n2", "n3", "n07", "gpu01"]),
        ("r[1-2]n[08-09]", ["r1n08", "r1n09", "r2n08", "r2n09"]),
        ("", []),
        ("n[", ["n"]),
    ],
)
def test_names_of_nodes(text: str, expected: list[str]) -> None:
    """As SLURM folds them."""
    assert list(hosts(text)) == expected


def test_a_list_without_end_is_bounded() -> None:
    """Hostile lists cost little."""
    assert len(list(hosts("n[1-99999999999]"))) == MAX_NODES
    assert len(list(hosts("n[1-9999]x[1-9999]y[1-9999]"))) == MAX_NODES
