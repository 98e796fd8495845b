"""After any change of a run's files the store equals a fresh reading, and reads no more than it must."""

import os
import random
import shutil
import sqlite3
import struct
import time
from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst import Store, read_run
from loganalyst.errors import SourceError
from loganalyst.model import Run, Tables, table
from loganalyst.sources.assemble import run_id
from loganalyst.sources.discovery.joining import Joiner
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.tables import csv_reader
from loganalyst.sources.text import reader
from loganalyst.sources.text.sizes import Sizes
from loganalyst.store import runreading
from loganalyst.store.state import State

pytestmark = pytest.mark.takes_long


def event(step: int, value: float, tag: bytes = b"loss", begin: float = 1.7e9) -> bytes:
    """One record of an event file: a scalar at a step, ten seconds after the last."""
    value_bytes = b"\x0a" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + bytes([len(value_bytes)]) + value_bytes
    data = b"\x09" + struct.pack("<d", begin + 10 * step) + b"\x10" + bytes([step & 0x7F])
    data += b"\x2a" + bytes([len(summary)]) + summary
    header = struct.pack("<Q", len(data))
    return header + masked(header) + data + masked(data)


def masked(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


# name of a file -> its n-th record
FILES: dict[str, Callable[[int], bytes]] = {
    "metrics.csv": lambda i: f"{i},{1 / (i + 1)}\n".encode() if i else b"step,loss\n",
    "val.csv": lambda i: f"{i},{2 / (i + 1)}\n".encode() if i else b"step,loss\n",  # both get names of their own
    "log.jsonl": lambda i: b'{"step": %d, "eval/loss": %r}\n' % (i, 2 / (i + 1)),
    "train.log": lambda i: b"2026-01-01 00:%02d:00 step %d loss %.3f\n" % (i % 60, i, 3 / (i + 1)),
    "events.out.tfevents.1.host.1.0": lambda i: event(i, i / 8),
    "train/events.out.tfevents.2.host.1.0": lambda i: event(i, i / 4, b"acc"),
    "config.yaml": lambda i: b"key%d: %d\n" % (i, i),
}

changes = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "cut record", "truncate", "rewrite", "rotate", "remove", "touch"]),
        st.sampled_from(sorted(FILES)),
        st.integers(1, 12),
    ),
    min_size=1,
    max_size=6,
)


def change(root: Path, what: str, name: str, n: int) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    data = file.read_bytes() if file.exists() else b""
    known = next(i for i in range(1000) if len(b"".join(map(FILES[name], range(i)))) >= len(data))
    more = b"".join(map(FILES[name], range(known, known + n)))
    if what == "append":
        with file.open("ab") as handle:
            handle.write(more)
    elif what == "cut record":  # the writer is in the middle of a record
        with file.open("ab") as handle:
            handle.write(more[:-3])
    elif what == "truncate" and data:
        os.truncate(file, max(len(data) - n, 0))
    elif what == "rewrite":  # another content, perhaps longer, in the same file
        file.write_bytes(b"".join(map(FILES[name], range(n))))
    elif what == "rotate" and data:
        file.rename(file.with_name(f"{file.name}.1"))
        file.write_bytes(more)
    elif what == "touch" and data:
        os.utime(file, ns=(n, n))
    elif what == "remove":
        file.unlink(missing_ok=True)


def assert_same(stored: Run, fresh: Run) -> None:
    for name, value in vars(fresh).items():
        if isinstance(value, pl.DataFrame):
            assert getattr(stored, name).schema == value.schema, name
            assert getattr(stored, name).equals(value), (name, getattr(stored, name), value)
        else:
            assert getattr(stored, name) == value, name


@settings(max_examples=20, deadline=None)
@given(st.lists(changes, min_size=2, max_size=4))
def test_incremental_is_fresh(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, str, int]]]
) -> None:
    """Appended, truncated, rotated, new and vanished files: each table equals that of a fresh reading."""
    root = tmp_path_factory.mktemp("run")
    store = Store(root / "store")
    run = root / "a"
    change(run, "append", "metrics.csv", 5)
    for round_ in rounds:
        for step in round_:
            change(run, *step)
        (told,) = store.ingest([run]).values()
        if told in {"read", "unchanged"}:
            assert_same(store.run(run_id(run)), read_run(run))
        else:
            with pytest.raises(SourceError) as unread:
                read_run(run)
            assert told == str(unread.value)


def test_sessions_and_prefixes_are_placed_again(tmp_path: Path) -> None:
    """A second start and a second folder move the rows of files that did not change."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    change(run, "append", "events.out.tfevents.1.host.1.0", 9)
    store.ingest([run])
    change(run, "append", "train/events.out.tfevents.2.host.1.0", 9)
    store.ingest([run])
    (run / "events.out.tfevents.9.host.1.0").write_bytes(event(100, 1.0) + event(101, 1.0))
    store.ingest([run])
    fresh = read_run(run)

    assert {"train/acc", "loss"} == {*fresh.points["metric"]}
    assert set(fresh.points["session"]) == {0, 1}
    assert_same(store.run(fresh.id), fresh)


def test_files_that_did_not_change_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged run costs stats; of a changed one only changed files are read."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    for name in FILES:
        change(run, "append", name, 5)
    store.ingest([run])
    opened: list[str] = []
    open_ = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self.name) or open_(self, *a, **k))

    assert set(store.ingest([run]).values()) == {"unchanged"}
    assert {name.split("/")[-1] for name in FILES} & set(opened) == set()

    change(run, "append", "metrics.csv", 5)
    read: list[str] = []
    part = runreading.part
    monkeypatch.setattr(
        runreading, "part", lambda file, *rest, **more: read.append(file.name) or part(file, *rest, **more)
    )
    store.ingest([run])

    assert read == ["metrics.csv"]


@pytest.fixture
def resuming(monkeypatch: pytest.MonkeyPatch) -> list[Mark | None]:
    """Make the CSV reader resumable; the list of the marks at which it resumed."""
    asked: list[Mark | None] = []

    def resume(path: Path, mark: Mark | None) -> Generator[Tables, None, Mark | None]:
        asked.append(mark)
        lines = path.read_bytes().splitlines(keepends=True)
        if mark and b"again\n" in lines:
            raise StartAgainError
        begin = mark.state["line"] if mark else 1
        for number, line in list(enumerate(lines))[begin:]:
            step, value = line.split(b",") if b"," in line else (b"0", b"0")
            row = {"session": [0], "metric": "loss", "step": [int(step)], "value": [float(value)], "line": [number + 1]}
            yield Tables(points=table("points", row))
        whole = [line for line in lines if line.endswith(b"\n")]
        yield Tables(sessions=table("sessions", {"session": [0]}))
        return Mark(sum(map(len, whole)), {"points": len(whole) - 1}, {"line": len(whole)})

    monkeypatch.setattr(csv_reader, "resume", resume, raising=False)
    return asked


def test_a_grown_file_is_read_on(tmp_path: Path, resuming: list[Mark | None]) -> None:
    """Rows before the mark are kept; the unfinished end is read again."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    run.mkdir()
    (run / "metrics.csv").write_text("step,loss\n0,1\n1,2\n2,")
    with (run / "metrics.csv").open("a") as file:
        file.write("3")
        file.flush()
        store.ingest([run])
        file.write("4\n3,4\n")
    store.ingest([run])

    assert [mark and mark.kept for mark in resuming] == [None, {"points": 2}]
    assert store.points.collect()["value"].to_list() == [1.0, 2.0, 34.0, 4.0]
    assert_same(store.run(read_run(run).id), read_run(run))


@pytest.mark.parametrize("how", ["start again", "other head", "other bytes before the mark", "new inode", "shorter"])
def test_another_file_is_read_again(tmp_path: Path, resuming: list[Mark | None], how: str) -> None:
    """A reader that must start again, and a file that did more than grow."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    run.mkdir()
    file = run / "metrics.csv"
    lines = ["step,loss", *(f"{i},{i:0120}" for i in range(250))]  # few rows, and as long as 3,000 short ones
    file.write_text("\n".join(lines) + "\n")
    store.ingest([run])
    if how == "start again":
        lines.append("again")
    elif how == "other head":
        lines[1] = "0,7"
    elif how == "other bytes before the mark":
        lines[-5] = lines[-5][:-1] + "0"
    elif how == "new inode":
        file.rename(run / "old")
    elif how == "shorter":
        lines = lines[:9]
    file.write_text("\n".join([*lines, "3000,1"]) + "\n")
    store.ingest([run])

    assert resuming[-1] is None
    assert_same(store.run(read_run(run).id), read_run(run))


def test_files_without_their_note_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the notes of written files are lost in a crash, everything is read again."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    change(run, "append", "metrics.csv", 5)
    change(run, "append", "log.jsonl", 5)
    store.ingest([run])
    change(run, "append", "log.jsonl", 5)
    with monkeypatch.context() as patch:
        patch.setattr(State, "note", lambda *_: None)
        store.ingest([run])
    change(run, "append", "metrics.csv", 5)
    store.ingest([run])

    assert_same(store.run(read_run(run).id), read_run(run))


def test_a_damaged_state_is_made_again(tmp_path: Path) -> None:
    """Fingerprints that cannot be read cost only a reading."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    change(run, "append", "metrics.csv", 5)
    store.ingest([run])
    for file in (tmp_path / "store").glob("state.sqlite*"):
        file.write_bytes(random.Random(1).randbytes(9000))

    assert set(store.ingest([run]).values()) == {"read"}
    assert set(store.ingest([run]).values()) == {"unchanged"}


def test_big_runs_go_over_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that do not fit into memory are the same, when first read, resumed and kept."""
    monkeypatch.setattr(runreading, "read", partial(runreading.read, held=100, group=64))
    run, store = tmp_path / "a", Store(tmp_path / "store")
    for name in FILES:
        change(run, "append", name, 100)
    store.ingest([run])
    change(run, "append", "log.jsonl", 400)
    store.ingest([run])

    assert_same(store.run(read_run(run).id), read_run(run))
    assert list((tmp_path / "store/tmp").iterdir()) == []


def test_a_status_that_the_clock_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was running when it was read is looked at again when it was silent for too long."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    run.mkdir()
    now = time.time()
    (run / "events.out.tfevents.1.host.1.0").write_bytes(b"".join(event(i, 1.0, begin=now - 60) for i in range(3)))
    store.ingest([run])

    assert store.runs.collect()["status"].to_list() == ["running"]
    assert set(store.ingest([run]).values()) == {"unchanged"}

    monkeypatch.setattr(time, "time", lambda: now + 3600)

    assert set(store.ingest([run]).values()) == {"read"}


def test_an_unreadable_run_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run without a row is reported again, and not read again until it changes."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    run.mkdir()
    (run / "metrics.csv").write_bytes(b"\0" * 100)
    (first,) = store.ingest([run]).values()
    monkeypatch.setattr(runreading, "part", lambda *_: pytest.fail("read again"))
    (second,) = store.ingest([run]).values()

    assert "nothing could be read" in first
    assert first == second


def test_a_run_that_is_gone_stays(tmp_path: Path) -> None:
    """The rows of a run are kept when its folder is removed."""
    run, store = tmp_path / "runs/a", Store(tmp_path / "store")
    change(run, "append", "metrics.csv", 5)
    store.ingest([tmp_path / "runs"])
    shutil.rmtree(run)
    store.ingest([tmp_path / "runs"])

    assert store.points.collect().height == 4


def test_a_job_log_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is joined to the run counts as one of its files: it is noticed when it appears, and when it grows."""
    run, store = tmp_path / "runs/a", Store(tmp_path / "store")
    change(run, "append", "metrics.csv", 5)
    (run / "config.yaml").write_text("slurm_job_id: 4711\n")
    store.ingest([run])
    log = tmp_path / "runs/slurm-4711.out"
    log.write_text("SLURM_JOB_ID=4711\nstep 1 loss 0.5\n")
    store.ingest([run])
    first = store.run(run_id(run))

    assert_same(first, read_run(run))
    assert "slurm-4711.out" in str(first.basis)

    with monkeypatch.context() as patch:
        patch.setattr(Joiner, "join", lambda *_: pytest.fail("looked into files"))

        assert set(store.ingest([run]).values()) == {"unchanged"}

    log.write_text(log.read_text() + "step 2 loss 0.4\nslurmstepd: error: *** JOB 4711 CANCELLED ***\n")

    assert set(store.ingest([run]).values()) == {"read"}
    assert_same(store.run(run_id(run)), read_run(run))


def test_changes_that_are_not_in_a_database_yet(tmp_path: Path) -> None:
    """Changes that are only in the change log of MLflow's database change the run."""
    file = tmp_path / "runs/mlflow.db"
    file.parent.mkdir()
    store = Store(tmp_path / "store")
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute("CREATE TABLE runs (run_uuid TEXT)")
        database.execute("CREATE TABLE metrics (key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT, step INTEGER)")
        database.execute("INSERT INTO runs VALUES ('aa11')")
        for step in range(3):
            before = os.stat(file)
            database.execute("INSERT INTO metrics VALUES ('loss', 0.5, 1700000000000, 'aa11', ?)", [step])
            assert store.ingest([tmp_path / "runs"]) == {f"{file}#aa11": "read"}
            assert store.points.collect()["step"].to_list() == [*range(step + 1)]
            assert store.ingest([tmp_path / "runs"]) == {f"{file}#aa11": "unchanged"}
            assert os.stat(file) == before


@pytest.mark.parametrize("how", ["size", "mtime", "inode", "new file", "gone"])
def test_any_change_of_a_stat_changes_the_run(tmp_path: Path, how: str) -> None:
    """Of two runs in one folder, only the one with changed files is read."""
    store, runs = Store(tmp_path / "store"), tmp_path / "runs"
    for name in ("a", "b"):
        change(runs / name, "append", "metrics.csv", 5)
        change(runs / name, "append", "config.yaml", 2)
    store.ingest([runs])
    file = runs / "a/config.yaml"
    stat = file.stat()
    if how == "size":
        change(runs / "a", "append", "config.yaml", 1)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif how == "mtime":
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    elif how == "inode":
        shutil.copy2(file, tmp_path / "copy")
        (tmp_path / "copy").replace(file)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif how == "new file":
        (runs / "a/model.pt").write_bytes(b"")
    elif how == "gone":
        file.unlink()

    assert store.ingest([runs]) == {str(runs / "a"): "read", str(runs / "b"): "unchanged"}
    assert store.ingest([runs]) == {str(runs / "a"): "unchanged", str(runs / "b"): "unchanged"}
    assert_same(store.run(run_id(runs / "a")), read_run(runs / "a"))


def test_a_new_log_next_to_runs_changes_none(tmp_path: Path) -> None:
    """It is a run of its own; the surroundings of the others are searched once and then remembered."""
    store, runs = Store(tmp_path / "store"), tmp_path / "runs"
    change(runs / "a", "append", "metrics.csv", 5)
    change(runs / "b", "append", "metrics.csv", 5)
    store.ingest([runs])
    (runs / "slurm-7.out").write_text("step 1 loss 0.5\n")

    assert store.ingest([runs]) == {
        str(runs / "a"): "unchanged",
        str(runs / "b"): "unchanged",
        str(runs / "slurm-7.out"): "read",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Joiner, "join", lambda *_: pytest.fail("looked into files"))

        assert set(store.ingest([runs / "a", runs / "b"]).values()) == {"unchanged"}


def test_a_state_of_another_form_is_forgotten(tmp_path: Path) -> None:
    """The state of an older program costs only a reading."""
    run, store = tmp_path / "a", Store(tmp_path / "store")
    change(run, "append", "metrics.csv", 5)
    store.ingest([run])
    with closing(sqlite3.connect(tmp_path / "store/state.sqlite", isolation_level=None)) as database:
        database.executescript("DROP TABLE runs; CREATE TABLE runs (run TEXT, version TEXT); PRAGMA user_version = 1")

    assert set(store.ingest([run]).values()) == {"read"}
    assert set(store.ingest([run]).values()) == {"unchanged"}


TRACE_HEAD = "[rank{0}]: Traceback (most recent call last):\n"
TRACE = TRACE_HEAD + '[rank{0}]:   File "/a.py", line 3, in f\n[rank{0}]: ValueError: no {1}\n'


def test_a_log_that_grows_keeps_its_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read step by step into a store, the blocks are those of a fresh reading, with all ranks."""
    resume = reader.resume
    monkeypatch.setattr(reader, "resume", lambda path, mark: resume(path, mark, Sizes(batch=400)))
    run, store = tmp_path / "run", Store(tmp_path / "store")
    run.mkdir()
    for part in range(4):
        with (run / "train.log").open("a") as log:
            log.write("".join(f"step {part * 20 + i} loss 0.5\n" for i in range(20)))
            log.write(TRACE.format(part, "shard") + TRACE.format(part, f"file {'abcd'[part]}"))
        store.ingest([run])
        kept, fresh = store.run(run_id(run)).blocks, read_run(run).blocks
        assert kept.equals(fresh)

    rows = kept.select("message", "ranks", "repeated", "parent").sort("message").rows()
    assert rows == [
        *((f"no file {c}", [i], 1, None) for i, c in enumerate("abcd")),
        ("no shard", [0, 1, 2, 3], 4, None),
    ]
    assert store.blocks.collect().height == 5
