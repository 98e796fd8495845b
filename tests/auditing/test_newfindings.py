"""A scan reports each finding once, even if a process is killed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from loganalyst.auditing.findingsfile import FindingsFile
from loganalyst.auditing.newfindings import scan
from loganalyst.errors import StoreError
from loganalyst.store import Store, lock

pytestmark = [pytest.mark.usefixtures("workers_here"), pytest.mark.takes_long]
OOM = "step 1 loss 2.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 is full\n"
PROGRAM = [sys.executable, "-m", "loganalyst.cli"]


def job(folder: Path, number: int) -> Path:
    """The log of a job that ran out of memory."""
    folder.mkdir(exist_ok=True)
    log = folder / f"slurm-{number}.out"
    log.write_text(OOM)
    return log


class Kept:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, lines: Sequence[str]) -> None:
        """Remember."""
        self.lines += lines

    def written(self, ids: set[str]) -> set[str]:
        """What is remembered."""
        return ids & {json.loads(line)["id"] for line in self.lines}


def test_only_new_findings_are_reported(tmp_path: Path) -> None:
    """The first scan reports all findings, the second none, the third only those of the new log."""
    job(tmp_path / "logs", 1)
    sink = Kept()
    scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1)
    (first,) = map(json.loads, sink.lines)
    assert (first["kind"], first["cause"], first["line"], first["run"]["name"]) == (
        "run", "cuda-out-of-memory", 2, "slurm-1.out",
    )  # fmt: skip

    assert scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1).new == []
    job(tmp_path / "logs", 2)
    (new,) = scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1).new

    assert new["run"]["name"] == "slurm-2.out"
    assert len(sink.lines) == 2


def test_a_log_that_grows_truncates_or_vanishes(tmp_path: Path) -> None:
    """More text after the error is nothing new; another error in a new log of its name is; what went is no error."""
    log = job(tmp_path / "logs", 1)
    sink = Kept()
    scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1)
    with log.open("a") as file:
        file.write("cleaning up\n")
    assert scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1).new == []
    log.write_text("step 1 loss 2.5\nstep 2 loss 2.4\nOSError: [Errno 28] No space left on device\n")
    (new,) = scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1).new
    job(tmp_path / "logs", 2)
    log.unlink()
    (other,) = scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1).new

    assert (new["label"], other["run"]["name"]) == ("disk_full", "slurm-2.out")


def test_a_cause_in_a_curve_is_reported_once_while_the_run_grows(tmp_path: Path) -> None:
    """The rate stays too low: the line that shows it moves with each scan, and the finding stays the same."""
    log = tmp_path / "logs" / "train.log"
    log.parent.mkdir()
    sink = Kept()
    for start in (0, 500, 1000):
        with log.open("a") as file:
            file.writelines(f"step {i} | loss {6 - i / 1000:.4f} | lr 1e-6\n" for i in range(start, start + 500, 10))
        scan([tmp_path / "logs"], tmp_path / "store", sink, jobs=1)

    assert [json.loads(line)["cause"] for line in sink.lines] == ["lr-too-low"]


class _Dies(Exception):
    pass


@pytest.mark.parametrize("written", [True, False])
def test_who_dies_while_telling_neither_loses_nor_repeats(tmp_path: Path, written: bool) -> None:
    """Whether the line was in the file or not: in the end it is there once."""
    job(tmp_path / "logs", 1)
    file = FindingsFile(tmp_path / "found.jsonl")

    class Dying(FindingsFile):
        def add(self, lines: Sequence[str]) -> None:
            if written:
                super().add(lines)
            else:
                self.path.write_text(lines[0][:20])  # half a line
            raise _Dies

    with pytest.raises(_Dies):
        scan([tmp_path / "logs"], tmp_path / "store", Dying(file.path), jobs=1)
    scan([tmp_path / "logs"], tmp_path / "store", file, jobs=1)
    scan([tmp_path / "logs"], tmp_path / "store", file, jobs=1)
    (line,) = file.path.read_text().splitlines()

    assert json.loads(line)["cause"] == "cuda-out-of-memory"
    assert json.loads(line).get("again", False) is not written


def test_a_second_scan_leaves(tmp_path: Path) -> None:
    """While one goes on, another of the same store says so."""
    job(tmp_path / "logs", 1)
    store = Store(tmp_path / "store")
    store.ingest([])
    (store.path / "scan-lock").mkdir()
    with lock.writing(store.path / "scan-lock", 0.0), pytest.raises(StoreError) as raised:
        scan([tmp_path / "logs"], store.path, Kept(), jobs=1)

    assert str(raised.value) == (
        f"{store.path}: is being scanned ({store.path}/scan-lock is being written by another process); "
        "wait until it is done"
    )


def test_a_fault_of_the_sink_is_not_blamed_on_the_store(tmp_path: Path) -> None:
    """The error names the file of findings; the next scan reports the finding."""
    job(tmp_path / "logs", 1)
    missing = tmp_path / "no-folder" / "found.jsonl"

    with pytest.raises(FileNotFoundError, match="no-folder"):
        scan([tmp_path / "logs"], tmp_path / "store", FindingsFile(missing), jobs=1)
    missing.parent.mkdir()
    scan([tmp_path / "logs"], tmp_path / "store", FindingsFile(missing), jobs=1)

    assert [json.loads(line)["cause"] for line in missing.read_text().splitlines()] == ["cuda-out-of-memory"]


def test_a_lock_that_cannot_be_made_is_a_fault_of_the_store(tmp_path: Path) -> None:
    """Where its database is a folder, the error names the store."""
    (tmp_path / "store" / "scan-lock" / "lock.sqlite" / "x").mkdir(parents=True)
    job(tmp_path / "logs", 1)

    with pytest.raises(StoreError, match="cannot be used as a store"):
        scan([tmp_path / "logs"], tmp_path / "store", Kept(), jobs=1)


def command(tmp_path: Path, *more: object) -> subprocess.CompletedProcess[str]:
    """The program, on the logs."""
    arguments = ["scan", tmp_path / "logs", "--store", tmp_path / "store", "--jobs", 1, *more]
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_the_command_and_its_metrics(tmp_path: Path) -> None:
    """Code 1 with a line of JSON, then 0 without; the file of metrics is complete."""
    job(tmp_path / "logs", 1)
    first = command(tmp_path, "--prometheus", tmp_path / "loganalyst.prom")
    again = command(tmp_path, "--prometheus", tmp_path / "loganalyst.prom")

    assert (first.returncode, again.returncode, again.stdout) == (1, 0, "")
    assert [json.loads(line)["label"] for line in first.stdout.splitlines()] == ["cuda_oom"]
    metrics = (tmp_path / "loganalyst.prom").read_text().splitlines()
    assert 'loganalyst_causes{label="cuda_oom",severity="error"} 1' in metrics
    assert "loganalyst_new_findings 0" in metrics
    assert [p.name for p in tmp_path.glob(".loganalyst*")] == []


def test_kill_nine_at_any_moment(tmp_path: Path) -> None:
    """Scans that are killed at random, then one that is not: the file contains each finding once."""
    found, moments = tmp_path / "found.jsonl", random.Random(7)
    for number in range(4):
        job(tmp_path / "logs", number)
        arguments = ["scan", tmp_path / "logs", "--store", tmp_path / "store", "--jobs", 1, "-o", found]
        process = subprocess.Popen([*PROGRAM, *map(str, arguments)], start_new_session=True)
        time.sleep(moments.uniform(0.3, 3.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert command(tmp_path, "-o", found).returncode in {0, 1}

    names = [json.loads(line)["run"]["name"] for line in found.read_text().splitlines()]
    assert sorted(names) == [f"slurm-{number}.out" for number in range(4)]


def test_a_path_that_does_not_exist_makes_no_store(tmp_path: Path) -> None:
    """Nothing would be kept in it; a store that exists is used."""
    store, sink = tmp_path / "store", Kept()

    assert scan([tmp_path / "nowhere"], store, sink).findings == []
    assert not store.exists()
    job(tmp_path / "logs", 1)
    assert len(scan([tmp_path / "logs"], store, sink, jobs=1).findings) == 1
    assert scan([tmp_path / "nowhere"], store, sink, jobs=1).audit.runs["status"].to_list() == ["unreadable"]
