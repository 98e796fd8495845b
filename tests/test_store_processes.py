"""Several processes, some of which die: the store always opens, and a re-run completes it."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from loganalyst import Store
from loganalyst.errors import StoreError
from loganalyst.store import lock, tablefiles

INGEST = """
import sys
from functools import partial
from loganalyst.store import Store, batch
store = Store(sys.argv[1])
store._batch = partial(batch.Batch, max_runs=3)
print("ready", flush=True)
store.ingest([sys.argv[2]], processes=int(sys.argv[3]))
"""


def make_runs(root: Path, count: int = 12) -> Path:
    for i in range(count):
        (root / f"runs/{i:02}").mkdir(parents=True)
        rows = "".join(f"{step},{1 / (step + 1 + i)}\n" for step in range(200))
        (root / f"runs/{i:02}/metrics.csv").write_text("step,loss\n" + rows)
        (root / f"runs/{i:02}/config.yaml").write_text(f"seed: {i}\n")
    return root / "runs"


def content(store: Store) -> dict[str, pl.DataFrame]:
    """All that was read, in an order of its own."""
    read = {name: getattr(store, name).collect() for name in (*tablefiles.BIG, *tablefiles.READ)}
    return {name: rows.sort("run_id", maintain_order=True) for name, rows in read.items()}


def test_two_processes_read_what_one_reads(tmp_path: Path) -> None:
    """The store is the same, whoever read."""
    runs = make_runs(tmp_path)
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")

    assert one.ingest([runs]) == two.ingest([runs], processes=2)
    assert all(rows.equals(content(two)[name]) for name, rows in content(one).items())
    assert set(two.ingest([runs], processes=2).values()) == {"unchanged"}


def test_kill_at_any_time(tmp_path: Path) -> None:
    """Ten times killed while it reads and writes: the store opens each time, and is at last what it would have been."""
    runs, script = make_runs(tmp_path), tmp_path / "ingest.py"
    script.write_text(INGEST)
    undisturbed, killed = Store(tmp_path / "undisturbed"), tmp_path / "killed"
    undisturbed.ingest([runs])
    chance = random.Random(0)
    for i in range(10):
        (runs / f"{i:02}/metrics.csv").open("a").write(f"{200 + i},1\n")
        arguments = [sys.executable, str(script), str(killed), str(runs), str(1 + i % 2)]
        writer = subprocess.Popen(arguments, stdout=subprocess.PIPE, start_new_session=True)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(chance.uniform(0, 0.6))
        os.killpg(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        content(Store(killed))
    undisturbed.ingest([runs])
    again = Store(killed)
    again.ingest([runs])

    assert all(rows.equals(content(again)[name]) for name, rows in content(undisturbed).items())
    assert set(again.ingest([runs]).values()) == {"unchanged"}
    assert not any((killed / "tmp").glob("*"))


def test_a_program_without_a_file_reads_with_several_processes(tmp_path: Path) -> None:
    """Other processes do not import it."""
    runs = make_runs(tmp_path, 3)
    code = "import sys, loganalyst\nprint(loganalyst.Store(sys.argv[1]).ingest([sys.argv[2]], processes=2))\n"
    arguments = [sys.executable, "-", str(tmp_path / "store"), str(runs)]
    done = subprocess.run(arguments, input=code, capture_output=True, text=True, check=True)

    assert done.stdout.count("'read'") == 3


def test_processes_that_cannot_start_are_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs do not count as unreadable."""
    runs, store = make_runs(tmp_path, 3), Store(tmp_path / "store")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(StoreError, match="cannot be started"):
        store.ingest([runs], processes=2)

    assert set(store.ingest([runs]).values()) == {"read"}


def test_leaving_early_keeps_what_was_read(tmp_path: Path) -> None:
    """Who stops listening, as Ctrl-C does, leaves a store with all runs that were told."""
    runs, store = make_runs(tmp_path), Store(tmp_path / "store")
    readings = store.readings(store.below([runs]))
    told = [next(readings).path for _ in range(5)]
    readings.close()

    assert sorted(store.runs.collect()["path"]) == sorted(told)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder is on a network file system."""
    monkeypatch.setattr(lock, "on_network", lambda _: True)


@pytest.mark.usefixtures("network")
def test_a_store_on_a_network_file_system(tmp_path: Path) -> None:
    """Reads, changes and judges as any other, by a lock file that is gone afterwards."""
    runs, store = make_runs(tmp_path, 3), Store(tmp_path / "store")
    store.ingest([runs])
    (runs / "00/metrics.csv").open("a").write("200,1\n")

    assert sorted(store.ingest([runs]).values()) == ["read", "unchanged", "unchanged"]
    assert store.diagnoses.collect().height == 3
    assert not (tmp_path / "store/lock").exists()
    assert not list((tmp_path / "store").glob("*-wal"))


@pytest.mark.usefixtures("network")
def test_a_lock_file_keeps_others_out(tmp_path: Path) -> None:
    """Who holds it is named."""
    with lock.writing(tmp_path, 0), pytest.raises(StoreError, match=f"process {os.getpid()} on"):
        lock.writing(tmp_path, 0.05).__enter__()


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("died", ["process", "number given again", "other machine", "while it wrote"])
def test_a_lock_file_of_the_dead_is_taken(tmp_path: Path, died: str) -> None:
    """A dead holder loses the lock: on this machine at once, on another after some minutes without a sign of life."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    holder = {"host": socket.gethostname(), "pid": process.pid, "started": "1"}
    if died == "number given again":
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
def test_network_file_systems_are_told_by_what_is_mounted(tmp_path: Path, folder: str, expected: bool) -> None:
    """The innermost mount counts."""
    (tmp_path / "mountinfo").write_text(
        "22 1 0:21 / / rw shared:1 - ext4 /dev/a rw\n30 22 0:5 / /home rw shared:2 master:1 - nfs4 server:/home rw\n"
        "31 22 0:6 / /scratch rw - xfs /dev/b rw\n32 31 0:7 / /scratch/a\\040b rw - lustre mds rw\nodd\n"
    )

    assert lock.on_network(Path(folder), str(tmp_path / "mountinfo")) is expected
    assert lock.on_network(Path(folder), str(tmp_path / "missing")) is False


def test_a_store_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is given; writing is one clear error."""
    runs, store = make_runs(tmp_path, 2), Store(tmp_path / "store")
    store.ingest([runs])

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lock, "_lock_database", refuse)

    assert store.points.collect().height == 400
    assert store.findings.collect().height == 0
    with pytest.raises(StoreError, match="cannot be used as a store"):
        store.ingest([runs])
