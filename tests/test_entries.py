"""One bad entry of a tree costs itself only: it is listed, and the runs beside it are judged."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst.auditing.batch import audit
from loganalyst.errors import SourceError
from loganalyst.report import audit as auditpage
from loganalyst.report.audit import screen as report
from loganalyst.report.audit.schema import schema
from loganalyst.sources.discovery.runs import listed
from tests.commandline import called
from tests.sources.files.test_sqliteguard import bomb, database

pytestmark = pytest.mark.usefixtures("workers_here")
LOG = "".join(f"step {i} loss {3 - i / 2000}\n" for i in range(2000))
CASES = Path(__file__).parents[2] / "shared/cases/hostile"


def run(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.log").write_text(LOG)
    return folder


def broken(path: Path) -> Path:
    """A store of MLflow's that was cut off while it was copied."""
    database(path, 20)
    os.truncate(path, 1700)
    return path


def test_a_broken_store_beside_runs_is_listed(tmp_path):
    """In every format of an audit, and by a diagnosis of the folder."""
    run(tmp_path / "a")
    run(tmp_path / "b")
    file = broken(tmp_path / "mlflow.db")
    shown, csv, page = (called("audit", tmp_path, "--format", name).out for name in ("terminal", "csv", "html"))
    told = json.loads(called("audit", tmp_path, "--format", "json").out)
    entry = next(entry for entry in told["runs"] if entry["status"] == "unreadable")

    assert told["counts"] == {"healthy": 2, "unreadable": 1}
    assert (entry["path"], entry["why"]) == (str(file), f"{file}: SQLite: database disk image is malformed")
    assert all("database disk image is malformed" in text for text in (shown, csv, page))
    shutil.rmtree(tmp_path / "b")
    assert [gap["why"] for gap in la.diagnose(tmp_path).run.gaps.to_dicts()] == [
        "SQLite: database disk image is malformed"
    ]
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(SourceError, match=r"mlflow\.db: SQLite: database disk image is malformed"):
        la.diagnose(tmp_path)


def test_a_folder_with_runs_and_many_broken_stores_is_no_single_run(tmp_path):
    """What cannot be read does not hide that there are several runs."""
    for i in range(6):
        (tmp_path / f"{i}").mkdir()
        broken(tmp_path / f"{i}" / "mlflow.db")
    run(tmp_path / "y")
    run(tmp_path / "z")

    with pytest.raises(SourceError, match="holds 2 runs; name one of them: y, z"):
        la.diagnose(tmp_path)


@pytest.mark.usefixtures("true_workers")
def test_a_store_that_never_ends_is_one_entry(tmp_path):
    """And the run beside it is judged."""
    run(tmp_path / "a")
    file = bomb(database(tmp_path / "mlflow.db"), "runs")
    found = audit([tmp_path], jobs=1, seconds=20)

    assert found.runs.select("path", "status").rows() == [
        (str(file), "unreadable"),
        (str(tmp_path / "a"), "healthy"),
    ]


def test_a_folder_that_may_not_be_listed_is_an_entry(tmp_path):
    """Beside one run it is no part of that run."""
    if os.geteuid() == 0:
        pytest.skip("root may list every folder")
    run(tmp_path / "a")
    (tmp_path / "secret").mkdir(mode=0)
    found = audit([tmp_path], jobs=1)

    assert found.runs["path"].to_list() == [str(tmp_path / "secret"), str(tmp_path / "a")]


@pytest.fixture
def place():
    """A folder whose tree may be deeper than pytest and shutil can remove."""
    folder = Path(tempfile.mkdtemp(prefix="loganalyst-"))
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True)


def deep(root: Path, levels: int, name: str = "d") -> None:
    """Folders in one another, with a run in the last one."""
    here = os.getcwd()
    os.chdir(root)
    try:
        for _ in range(levels):
            os.mkdir(name)
            os.chdir(name)
        Path("train.log").write_text(LOG)
    finally:
        os.chdir(here)


def test_a_tree_deeper_than_python_may_recurse(place):
    """Both runs are judged, and the deep one by itself, too."""
    run(place / "t/a")
    deep(place / "t", 1100)
    inner = place / "t" / "/".join("d" * 1100)
    found = audit([place / "t"], jobs=1)

    assert found.runs["status"].to_list() == ["healthy", "healthy"]
    assert la.diagnose(inner).status == "healthy"
    for words in (
        ["ingest", place / "t", "--store", place / "store"],
        ["scan", place / "t", "--store", place / "store"],
        ["compare", place / "t"],
        ["show", inner],
    ):
        assert called(*words).code == 0, words


def test_paths_longer_than_the_system_takes_are_entries(place):
    """What lies below cannot be opened by anybody's name for it: it is said that it is not reached."""
    run(place / "t/a")
    deep(place / "t", 30, "d" * 200)
    found = audit([place / "t"], jobs=1).runs.sort("status").rows(named=True)

    assert [run["status"] for run in found] == ["healthy", "unreadable"]
    assert "File name too long" in found[1]["why"]


def test_copies_are_counted_and_named(tmp_path):
    """On a terminal, in JSON by its schema, on the page; `ingest` counts them."""
    name = "events.out.tfevents.1768210200.host.1.0"
    for folder in ("a", "b", "c"):
        run(tmp_path / folder).joinpath("train.log").unlink()
        (tmp_path / folder / name).write_bytes(random.Random(0).randbytes(5000))
    found = audit([tmp_path], jobs=1)
    told = report.data(found.runs, found.groups, found.contrasts, found.accounts, found.copies)
    page = auditpage.render(found.runs, found.groups, found.contrasts, found.nodes, copies=found.copies)

    assert found.copies == tuple((str(tmp_path / c), str(tmp_path / "a" / name)) for c in ("b", "c"))
    assert found.counts["copy"] == 2
    assert told["copies"] == [{"path": path, "original": original} for path, original in found.copies]
    jsonschema.validate(told, schema())
    assert "2 copies of runs left out" in report.render(found.runs, found.groups, found.contrasts, copies=found.copies)
    assert "2 copies of runs left out" in page
    assert "2 left out as copies" in called("ingest", tmp_path, "--store", tmp_path / "store").out


def test_databases_of_other_programs_are_no_entries(tmp_path):
    """Neither sound nor broken ones, unless they are named as MLflow's."""
    run(tmp_path / "a")
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as db:
        db.execute("CREATE TABLE jobs (id)")
    (tmp_path / "cache.sqlite").write_bytes((tmp_path / "jobs.db").read_bytes()[:1000])

    assert [Path(found.root).name for found in listed(tmp_path)] == ["a"]


@pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases are not part of the project")
@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("mlflow-btree-bomb", "unreadable"),
        ("broken-mlflow-silent", "unreadable"),
        ("mlflow-generated-column", "cause_unknown"),
    ],
)
def test_the_recorded_cases(tmp_path, case, status):
    """One entry of each, beside a run that is judged."""
    shutil.copytree(CASES / case, tmp_path / "t" / case)
    run(tmp_path / "t/run")
    found = called("audit", tmp_path / "t", "--seconds", "60", "--format", "json")

    assert found.code == 0
    assert sorted(run["status"] for run in json.loads(found.out)["runs"]) == sorted(["healthy", status])


def test_a_name_that_is_no_utf8_costs_its_own_run_only(tmp_path: Path) -> None:
    """Linux takes any bytes for a name; the tables of a store hold text."""
    rows = "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(50))
    tree = os.fsencode(tmp_path / "tree")
    for folder in (b"sound", b"caf\xe9", b"whole/in\xff"):
        os.makedirs(os.path.join(tree, folder))
        Path(os.fsdecode(os.path.join(tree, folder, b"metrics.csv"))).write_text(rows)
    Path(os.fsdecode(os.path.join(tree, b"whole", b"progress.csv"))).write_text(rows)
    Path(os.fsdecode(os.path.join(tree, b"\xfe.csv"))).write_text(rows)
    for _ in range(2):  # the second finds what the first has noted
        found = la.audit([tmp_path / "tree"], jobs=1, store=tmp_path / "store")
        why = {row["name"]: row["why"] for row in found.runs.iter_rows(named=True) if row["status"] == "unreadable"}
        assert "sound" in set(found.runs["name"]) - set(why)
        assert "a name in this path or below it is not valid UTF-8" in why["caf?"]


def test_a_copied_run_is_left_out_whole_or_judged_whole(tmp_path):
    """Half of a run would get another diagnosis than the whole: its log alone, without the event file."""
    original = Path(__file__).parents[1] / "fixtures" / "runs" / "nan-lr"
    for name in ("a", "b", "c"):
        shutil.copytree(original, tmp_path / name)
    with (tmp_path / "c" / "train.log").open("a") as log:
        log.write("one more line\n")
    found = audit([tmp_path], jobs=1)

    assert [Path(copy).name for copy, _ in found.copies] == ["b"]
    assert found.runs.sort("path").select("name", "cause").rows() == [("a", "lr-too-high"), ("c", "lr-too-high")]
