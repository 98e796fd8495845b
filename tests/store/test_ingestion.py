"""Runs are read into a store by several processes, some of which die: a second reading completes it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from loganalyst import Store
from loganalyst.errors import StoreError
from loganalyst.processes.eachitem import Ready
from loganalyst.store import ingestion, tablefiles
from loganalyst.store.changedruns import Below, Damage

pytestmark = pytest.mark.takes_long

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
    """All tables of the readings, sorted by run."""
    read = {name: getattr(store, name).collect() for name in (*tablefiles.BIG, *tablefiles.READ)}
    return {name: rows.sort("run_id", maintain_order=True) for name, rows in read.items()}


def test_two_processes_read_what_one_reads(tmp_path: Path) -> None:
    """The store is the same."""
    runs = make_runs(tmp_path)
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")

    assert one.ingest([runs]) == two.ingest([runs], processes=2)
    assert all(rows.equals(content(two)[name]) for name, rows in content(one).items())
    assert set(two.ingest([runs], processes=2).values()) == {"unchanged"}


def test_kill_at_any_time(tmp_path: Path) -> None:
    """The process is killed ten times while it reads and writes. The store always opens, and in the end is complete."""
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
    """A caller that stops, as Ctrl-C does, leaves a store with all runs that were yielded."""
    runs, store = make_runs(tmp_path), Store(tmp_path / "store")
    readings = store.readings(store.below([runs]))
    paths = [next(readings).path for _ in range(5)]
    readings.close()

    assert sorted(store.runs.collect()["path"]) == sorted(paths)


def test_outcomes_of_runs_that_need_no_reading(tmp_path: Path) -> None:
    """An unchanged run, a copy and a missing path are outcomes without a task."""
    runs, store = make_runs(tmp_path, 1), Store(tmp_path / "store")
    store.ingest([runs])
    with store._writer.writing(store._folder) as state:
        damage = Damage(set(), store.run_file, [])
        below = Below([runs, tmp_path / "missing"])
        found = list(ingestion.work(store._folder, state, below, damage, full=False, trusted=False))
        again = list(ingestion.work(store._folder, state, Below([runs]), damage, full=True, trusted=False))

    assert [(item.value.what, item.value.path) for item in found if isinstance(item, Ready)] == [
        ("failed", str(tmp_path / "missing")),
        ("unchanged", str(runs / "00")),
    ]
    assert [str(task.found.root) for task in again if not isinstance(task, Ready)] == [str(runs / "00")]
