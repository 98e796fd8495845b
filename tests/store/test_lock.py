"""One process writes a store at a time: by a SQLite lock, or by a lock file on network file systems."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loganalyst import Store
from loganalyst.errors import StoreError
from loganalyst.store import lock


def make_runs(root: Path, count: int) -> Path:
    for i in range(count):
        (root / f"runs/{i:02}").mkdir(parents=True)
        rows = "".join(f"{step},{1 / (step + 1 + i)}\n" for step in range(200))
        (root / f"runs/{i:02}/metrics.csv").write_text("step,loss\n" + rows)
    return root / "runs"


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder is on a network file system."""
    monkeypatch.setattr(lock, "on_network", lambda _: True)


@pytest.mark.usefixtures("network")
def test_a_store_on_a_network_file_system(tmp_path: Path) -> None:
    """It is read, changed and judged like any other, with a lock file that is removed afterwards."""
    runs, store = make_runs(tmp_path, 3), Store(tmp_path / "store")
    store.ingest([runs])
    (runs / "00/metrics.csv").open("a").write("200,1\n")

    assert sorted(store.ingest([runs]).values()) == ["read", "unchanged", "unchanged"]
    assert store.diagnoses.collect().height == 3
    assert not (tmp_path / "store/lock").exists()
    assert not list((tmp_path / "store").glob("*-wal"))


@pytest.mark.usefixtures("network")
def test_a_lock_file_keeps_others_out(tmp_path: Path) -> None:
    """The error names its holder."""
    with lock.writing(tmp_path, 0), pytest.raises(StoreError, match=f"process {os.getpid()} on"):
        lock.writing(tmp_path, 0.05).__enter__()


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("died", ["process", "reused number", "other machine", "while it wrote"])
def test_a_lock_file_of_a_dead_process_is_taken(tmp_path: Path, died: str) -> None:
    """A dead holder loses the lock: on this machine at once, on another after some minutes without a sign of life."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    holder = {"host": socket.gethostname(), "pid": process.pid, "started": "1"}
    if died == "reused number":
        holder["pid"] = os.getpid()
    elif died == "other machine":
        holder["host"] = "another"
    (tmp_path / "lock").write_text("" if died == "while it wrote" else json.dumps(holder))
    if died in {"other machine", "while it wrote"}:
        with pytest.raises(StoreError, match="is being written by"):
            lock.writing(tmp_path, 0.05).__enter__()
        os.utime(tmp_path / "lock", (1, 1))
    with lock.writing(tmp_path, 1):
        assert json.loads((tmp_path / "lock").read_text())["pid"] == os.getpid()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("network")
def test_a_lock_file_shows_signs_of_life(tmp_path: Path) -> None:
    """Its modification time goes on while it is held."""
    with lock.lock_file(tmp_path, 0, heartbeat=0.01):
        os.utime(tmp_path / "lock", (1, 1))
        for _ in range(500):
            if (tmp_path / "lock").stat().st_mtime > 1:
                break
            time.sleep(0.01)
        assert (tmp_path / "lock").stat().st_mtime > 1


def test_a_busy_store_is_reported(tmp_path: Path) -> None:
    """A second writer waits, then gets an error; tables can be read all the time."""
    runs, store = make_runs(tmp_path, 3), Store(tmp_path / "store", patience=0.05)
    store.ingest([runs])
    with lock.writing(store.path, 0):
        with pytest.raises(StoreError, match="is being written by another process"):
            store.ingest([runs])
        assert store.points.collect().height == 600
        assert store.diagnoses.collect().height == 0

    assert store.diagnoses.collect().height == 3


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("/home/me/store", True), ("/scratch/a b/x", True), ("/scratch/other", False), ("/homes", False)],
)
def test_network_file_systems_are_recognised_by_their_mounts(tmp_path: Path, folder: str, expected: bool) -> None:
    """The innermost mount counts."""
    (tmp_path / "mountinfo").write_text(
        "22 1 0:21 / / rw shared:1 - ext4 /dev/a rw\n30 22 0:5 / /home rw shared:2 master:1 - nfs4 server:/home rw\n"
        "31 22 0:6 / /scratch rw - xfs /dev/b rw\n32 31 0:7 / /scratch/a\\040b rw - lustre mds rw\nodd\n"
    )

    assert lock.on_network(Path(folder), str(tmp_path / "mountinfo")) is expected
    assert lock.on_network(Path(folder), str(tmp_path / "missing")) is False


def test_a_store_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables can be read; writing is one clear error."""
    runs, store = make_runs(tmp_path, 2), Store(tmp_path / "store")
    store.ingest([runs])

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lock, "_lock_database", refuse)

    assert store.points.collect().height == 400
    assert store.findings.collect().height == 0
    with pytest.raises(StoreError, match="cannot be used as a store"):
        store.ingest([runs])
