"""An audit lists every run below some folders, the worst first, and which failed alike."""

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest

import loganalyst
from loganalyst import cli
from loganalyst.auditing.runlist import COLUMNS

pytestmark = [pytest.mark.usefixtures("workers_here"), pytest.mark.takes_long]
OOM = (
    "step {i} loss 2.{i}\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {i}.50 GiB. "
    "GPU 0 has a total capacity of 79.10 GiB\n"
)


def tree(folder: Path) -> Path:
    """Three jobs that ran out of memory, one healthy run, and one folder that is no run."""
    for i in range(3):
        (folder / f"job-{i}").mkdir(parents=True)
        (folder / f"job-{i}" / "config.json").write_text(json.dumps({"batch_size": 512, "seed": i}))
        (folder / f"job-{i}" / f"slurm-90{i}.out").write_text(OOM.format(i=i))
    healthy = folder / "good"
    healthy.mkdir()
    (healthy / "config.json").write_text(json.dumps({"batch_size": 32, "seed": 7}))
    rows = [f"{i},{2 * 0.99**i + 0.1 + 0.01 * (i % 3)},{2 * 0.99**i + 0.12 + 0.01 * (i % 5)}" for i in range(400)]
    (healthy / "metrics.csv").write_text("\n".join(["step,train/loss,val/loss", *rows]) + "\n")
    (folder / "notes").mkdir()
    (folder / "notes" / "todo.md").write_text("nothing\n")
    return folder


def run(*arguments: object) -> int:
    """The exit code of the program."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@pytest.mark.usefixtures("true_workers")
def test_runs_are_listed_with_their_causes_and_grouped(tmp_path: Path) -> None:
    """Three runs form a group, with the setting that distinguishes them."""
    found = loganalyst.audit([tree(tmp_path / "runs")], tmp_path / "store", jobs=1)

    assert found.runs.schema == COLUMNS
    assert [os.path.basename(path) for path in found.runs["path"]][-1] == "good"
    assert found.runs["label"].to_list() == ["cuda_oom"] * 3 + [None]
    assert found.runs["status"].to_list() == ["diagnosis_complete"] * 3 + ["healthy"]
    assert found.likely
    (group,) = found.groups.to_dicts()
    assert (group["cause"], group["runs"], sorted(group["members"])) == (
        "cuda-out-of-memory",
        3,
        sorted(found.runs["run_id"][:3]),
    )
    assert group["settings"] == ["batch_size = 512"]
    assert "#" in group["like"]


def test_only_what_changed_is_read_and_judged(tmp_path: Path) -> None:
    """The second time nothing is; then the one run that grew; with `full` all are."""
    runs, store = tree(tmp_path / "runs"), tmp_path / "store"
    first = loganalyst.audit([runs], store, jobs=1)
    again = loganalyst.audit([runs], store, jobs=1)
    with (runs / "job-1" / "slurm-901.out").open("a") as log:
        log.write("srun: error: node3: task 0: Exited with exit code 1\n")
    third = loganalyst.audit([runs], store, jobs=1)
    whole = loganalyst.audit([runs], store, jobs=1, full=True)

    assert first.counts == {"read": 4, "judged": 4}
    assert again.counts == {"unchanged": 4}
    assert again.runs.equals(first.runs)
    assert third.counts == {"read": 1, "unchanged": 3, "judged": 1}
    assert whole.counts == {"read": 4, "judged": 4}
    assert whole.runs.equals(third.runs)


def test_without_a_store_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary one is gone afterwards, and the runs are as they were."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    runs = tree(tmp_path / "runs")
    before = {p: p.stat().st_mtime_ns for p in runs.rglob("*")}
    found = loganalyst.audit([runs], jobs=1)

    assert found.runs.height == 4
    assert list((tmp_path / "tmp").iterdir()) == []
    assert {p: p.stat().st_mtime_ns for p in runs.rglob("*")} == before


@pytest.mark.usefixtures("true_workers")
def test_a_path_that_is_not_there_costs_itself_only(tmp_path: Path) -> None:
    """The others are diagnosed, and the missing path is listed."""
    runs = tree(tmp_path / "runs")
    found = loganalyst.audit([runs, tmp_path / "gone"], tmp_path / "store", jobs=2)

    assert found.runs.height == 5
    (unread,) = found.runs.filter(status="unreadable").to_dicts()
    assert unread["path"] == str(tmp_path / "gone")
    assert "no such file or directory" in unread["why"]
    assert found.counts["failed"] == 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 as a cause is likely; each format holds the same runs."""
    runs, store = tree(tmp_path / "runs"), tmp_path / "store"

    assert run("audit", runs, "--store", store, "--jobs", 1) == 1
    screen = capsys.readouterr().out
    assert screen.splitlines()[0] == "4 runs   ✗ 3 with a cause   ✓ 1 healthy"
    assert "    3 × The GPU ran out of memory" in screen
    assert run("audit", runs, "--store", store, "--exit-zero", "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["schema"], len(data["runs"]), len(data["groups"])) == ("loganalyst/audit/1", 4, 1)
    assert run("audit", runs, "--store", store, "--format", "csv") == 1
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["label"] for row in rows] == ["cuda_oom"] * 3 + [""]
    assert run("audit", runs, "--store", store, "--format", "html", "-o", tmp_path / "page.html") == 1
    assert "<h1>A cause was found in 3 of 4 runs</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_nothing_readable_is_exit_code_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is not there."""
    assert run("audit", tmp_path / "none", "--jobs", 1) == 2
    assert "no such file or directory" in capsys.readouterr().out


def test_healthy_runs_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says so, and the exit code is 0."""
    runs = tree(tmp_path / "runs")
    for job in runs.glob("job-*"):
        shutil.rmtree(job)

    assert run("audit", runs, "--jobs", 1) == 0
    assert capsys.readouterr().out == "1 run   ✓ 1 healthy\n"
