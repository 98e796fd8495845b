"""`loganalyst ingest` and `loganalyst query` as one types them."""

import json
from pathlib import Path

import pytest

from tests.commandline import called


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, read into a store by the command."""
    root = tmp_path_factory.mktemp("command")
    for seed in range(2):
        (root / f"runs/{seed}").mkdir(parents=True)
        (root / f"runs/{seed}/metrics.csv").write_text(
            "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(30))
        )
    code, out, err = called("ingest", root / "runs", "--store", root / "store")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{root}/runs/0: 30 points", f"{root}/runs/1: 30 points", "2 runs read (60 points), 0 unchanged, 0 not read",
    ]  # fmt: skip
    return root


def test_ingest_tells_what_it_did(root: Path) -> None:
    """What is unchanged is counted; what cannot be read is told and makes the exit code 2, the rest goes on."""
    code, out, err = called("ingest", root / "nothing", root / "runs", "--store", root / "store", "--processes", 2)

    assert code == 2
    assert out == "0 runs read (0 points), 2 unchanged, 1 not read\n"
    assert "nothing: no such file or directory" in err


def test_query_in_each_layout(root: Path) -> None:
    """The same answer as a table, CSV, JSON and JSON lines, on stdout or in a file."""
    sql = "SELECT name, points FROM runs ORDER BY name"
    ask = ("query", sql, "--store", root / "store", "--format")
    rows = [{"name": "0", "points": 30}, {"name": "1", "points": 30}]

    assert called(*ask, "csv") == (0, "name,points\n0,30\n1,30\n", "")
    assert json.loads(called(*ask, "json")[1]) == rows
    assert [json.loads(line) for line in called(*ask, "jsonl")[1].splitlines()] == rows
    assert "name" in called(*ask, "table")[1]
    assert called(*ask, "csv", "-o", root / "out.csv") == (0, "", "")
    assert (root / "out.csv").read_text() == "name,points\n0,30\n1,30\n"


def test_query_needs_a_store(root: Path) -> None:
    """A store that is not there is not made, and a wrong question is one line."""
    code, out, err = called("query", "SELECT 1", "--store", root / "none")

    assert (code, out) == (2, "")
    assert "there is no store" in err
    assert not (root / "none").exists()
    assert called("query", "DROP TABLE runs", "--store", root / "store")[0] == 2
