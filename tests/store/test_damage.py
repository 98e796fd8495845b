"""Missing rows of a damaged store are always an error, and the next reading repairs the store."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from loganalyst import Store, pipeline, query
from loganalyst.auditing.batch import audit
from loganalyst.errors import StoreError
from loganalyst.store import lock
from loganalyst.store.ledger import DamagedError
from loganalyst.store.tablefiles import BIG, JUDGED, KEPT, READ
from tests.judgedonce import JudgedOnce

RUNS = 4
LOG = "".join(f"epoch {i} loss {1 / (i + 1):.4f}\n" for i in range(30)) + "RuntimeError: CUDA out of memory\n"


def delete(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def flip(file: Path) -> None:
    """One bit in the middle, where compressed pages are."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)
    os.utime(file, ns=(1, 1))  # a fast disk writes twice within the clock's resolution


def replace(file: Path) -> None:
    """Another sound file of the same columns, without rows."""
    pl.read_parquet(file).clear().write_parquet(file)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES = (delete, empty, truncate, flip, replace, folder)
Damage = Callable[[Path], None]


def pairs(names: Sequence[str]) -> list[tuple[str, Damage]]:
    """Each table with two damages, so that each damage meets several tables."""
    return [(name, DAMAGES[(i + more) % len(DAMAGES)]) for i, name in enumerate(names) for more in (0, 3)]


@pytest.fixture(scope="module", autouse=True)
def judged_once() -> Iterator[None]:
    """These tests ask which rows are missing and made again, and not what a diagnosis says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "diagnose", JudgedOnce())
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with points, lines, settings and a fault."""
    root = tmp_path_factory.mktemp("runs")
    for i in range(RUNS):
        (root / f"run{i}").mkdir()
        (root / f"run{i}/metrics.csv").write_text(
            "step,loss\n" + "".join(f"{s},{1 / (s + 1 + i) if s < 45 else float('nan')}\n" for s in range(50))
        )
        (root / f"run{i}/config.yaml").write_text(f"lr: 0.1\nseed: {i}\n")
        (root / f"run{i}/train.log").write_text(LOG)
    return root


def note(store: Store) -> None:
    """Add rows to the tables that cannot be made again."""
    row = {"run_id": ["a"], "time": [datetime(2026, 1, 1)]}
    store.keep("truths", pl.DataFrame({**row, "path": "p", "cause": "c", "label": "l", "note": ""}))
    store.keep("reported", pl.DataFrame({**row, "finding": "f", "state": "told"}))
    texts = dict.fromkeys(("old", "old_path", "path", "lineage", "cause", "label", "outcome", "fix"), "x")
    store.keep("verifications", pl.DataFrame({**row, **texts, "applied": [True]}))


@pytest.fixture(scope="module")
def sound(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two batches, judged."""
    store = Store(tmp_path_factory.mktemp("sound") / "store")
    store.ingest([runs / f"run{i}" for i in range(2)])
    store.ingest([runs])
    store.diagnose()
    note(store)
    return store.path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(sound, tmp_path / "store"))


def content(store: Store) -> dict[str, pl.DataFrame]:
    """All rows of all tables that are made from runs."""
    found = {name: store.table(name).collect() for name in (*BIG, *READ, *JUDGED)}
    found["diagnoses"] = found["diagnoses"].drop("reading")
    return {name: rows.sort("run_id", maintain_order=True) for name, rows in found.items()}


@cache
def sound_content(sound: Path) -> dict[str, pl.DataFrame]:
    """No test changes the sound store."""
    return content(Store(sound))


def assert_whole(path: Path, sound: Path) -> None:
    """The store equals the sound one, and no fault is reported any more."""
    store, whole = Store(path), sound_content(sound)
    for name, rows in content(store).items():
        assert rows.equals(whole[name]), name
    store.heal()
    assert store.faults == []


def file_of(path: Path, table: str) -> Path:
    """One file of a table: the newest segment of a small one, the first run's file of a big one."""
    place = path / "runs" if table in BIG else path / "tables" / table
    files = sorted(place.glob(f"**/{table}.parquet" if table in BIG else "*.parquet"))
    return files[0 if table in BIG else -1]


def tables(*groups: tuple[str, ...]) -> list[str]:
    """The tables in which these runs have rows."""
    without = {
        "jobs",
        "checkpoints",
        "collectives",
        "process_groups",
        "distributions",
        "gaps",
        "blocks",
    }
    return [name for group in groups for name in group if name not in without]


@pytest.mark.parametrize(("table", "damage"), pairs(tables(READ, BIG)))
def test_lost_readings_are_made_again(path: Path, sound: Path, runs: Path, table: str, damage: Damage) -> None:
    """A query names a run whose rows are missing; the next reading reports it and repairs the store."""
    file = file_of(path, table)
    damage(file)
    with pytest.raises(DamagedError, match=rf"{table}.*{file.stem}.*run|{file.stem}.*are missing.*run\d"):
        query.ask(Store(path), f"SELECT count(*) FROM {table}")
    store = Store(path)
    outcomes = store.ingest([runs])

    assert set(outcomes.values()) <= {"read", "unchanged"}
    assert "read" in outcomes.values()
    assert len(store.faults) == 1
    assert str(file) in store.faults[0]
    assert query.ask(Store(path), f"SELECT count(*) FROM {table}").item() > 0
    assert_whole(path, sound)


@pytest.mark.parametrize(("table", "damage"), pairs(tables(JUDGED)))
def test_lost_diagnoses_are_made_again(path: Path, sound: Path, table: str, damage: Damage) -> None:
    """The next query judges them again; if the store cannot be written, that is an error."""
    damage(file_of(path, table))
    with (
        lock.writing(path, 0.0),
        pytest.raises(DamagedError, match=rf"rows of {table} are missing, of \d runs .*they are judged again"),
    ):
        query.ask(Store(path), f"SELECT count(*) FROM {table}")
    rows = query.ask(Store(path), f"SELECT * FROM {table}")

    assert rows.height == sound_content(sound)[table].height
    assert_whole(path, sound)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("table", KEPT)
def test_a_damaged_kept_table_is_set_aside_and_reported(path: Path, sound: Path, table: str, damage: Damage) -> None:
    """A query reports what is missing. The next writer keeps the rest of the file, reports it, and goes on."""
    file = file_of(path, table)
    damage(file)
    with pytest.raises(DamagedError, match=f"rows of {table} are missing"):
        query.ask(Store(path), f"SELECT * FROM {table}")
    store = Store(path)
    store.heal()

    assert len(store.faults) == 1
    assert f"rows of {table} are lost" in store.faults[0]
    assert (path / "damaged" / f"{table}-{file.name}").exists() is (damage is not delete)
    assert Store(path).table(table).collect().height == 0
    note(store)
    assert Store(path).table(table).collect().height == 1
    assert_whole(path, sound)


def test_damage_of_one_run_does_not_touch_others(path: Path, runs: Path) -> None:
    """Its points can be queried, and its folder audited, while rows of other runs are missing."""
    store = Store(path)
    ids = dict(store.runs.select("name", "run_id").collect().iter_rows())
    empty(store.run_file("points", ids["run3"]))
    delete(file_of(path, "config"))
    rows = query.ask(Store(path), f"SELECT count(*) AS n FROM points WHERE run_id = '{ids['run0']}'")
    found = audit([runs / "run0"], path, jobs=1)

    assert rows.item() == 50 + 30
    assert found.runs["status"].to_list() == ["diagnosis_complete"]
    with pytest.raises(StoreError):
        Store(path).run(ids["run3"])
    with pytest.raises(DamagedError, match="run3"):
        query.ask(Store(path), "SELECT * FROM config")


def test_all_segments_gone(path: Path, sound: Path, runs: Path) -> None:
    """Only the state remembers the runs: a query is an error, not an answer of 0 rows."""
    for name in READ:
        shutil.rmtree(path / "tables" / name, ignore_errors=True)
    for name in ("runs", "config", "points"):
        with pytest.raises(DamagedError, match="are missing"):
            query.ask(Store(path), f"SELECT count(*) FROM {name}")
    Store(path).ingest([runs])

    assert_whole(path, sound)


def test_a_run_that_cannot_be_read_again_is_left_out(path: Path, tmp_path: Path, runs: Path) -> None:
    """If its folder is gone, that is reported once, and the other runs can be queried as before."""
    extra = Path(shutil.copytree(runs / "run0", tmp_path / "extra"))
    Store(path).ingest([extra])
    delete(file_of(path, "config"))
    shutil.rmtree(extra)
    store = Store(path)
    store.ingest([runs])

    assert store.faults == [f"{extra}: its rows in the store are damaged, and it cannot be read again: it is left out"]
    assert "extra" not in Store(path).runs.collect()["name"].to_list()
    assert Store(path).config.collect()["run_id"].n_unique() == RUNS
    shutil.copytree(runs / "run0", extra)
    assert Store(path).ingest([extra]) == {str(extra): "read"}
    assert "extra" in Store(path).runs.collect()["name"].to_list()


@pytest.mark.parametrize("damage", [delete, empty, truncate, flip, folder])
def test_the_ledger(path: Path, sound: Path, runs: Path, damage: Damage) -> None:
    """Without it, it is unknown what is missing: an error until all runs are read again. Kept tables stay."""
    damage(path / "tables/ledger")
    with pytest.raises(DamagedError, match=r"ledger: is (gone|damaged): rows of the store may be missing"):
        query.ask(Store(path), "SELECT * FROM runs")
    store = Store(path)

    assert set(store.ingest([runs]).values()) == {"read"}
    assert "every run is read again" in store.faults[0]
    assert Store(path).truths.collect().height == 1
    assert_whole(path, sound)


def wrong_tables(file: Path) -> None:
    """The right version, and columns of another program."""
    with closing(sqlite3.connect(file)) as db:
        db.executescript("DROP TABLE runs; CREATE TABLE runs (run TEXT, version TEXT)")


def other_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA user_version = 99")


def garbage_in_the_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 : len(data) : 3] = b"\xff" * len(data[4096 : len(data) : 3])
    file.write_bytes(data)


def texts(file: Path) -> None:
    """Sound SQLite, and nonsense in all that is JSON."""
    with closing(sqlite3.connect(file)) as db:
        db.executescript("UPDATE runs SET joined = '{', written = '[1'; UPDATE files SET seen = 'x'")


@pytest.mark.parametrize(
    "damage", [delete, empty, truncate, flip, wrong_tables, other_version, garbage_in_the_middle, texts]
)
def test_the_state_file(path: Path, sound: Path, runs: Path, damage: Damage) -> None:
    """Its content can be found again: after any damage the store is repaired."""
    for log in path.glob("state.sqlite-*"):
        log.unlink()
    damage(path / "state.sqlite")
    outcomes = Store(path).ingest([runs])

    assert set(outcomes.values()) <= {"read", "unchanged"}
    assert set(Store(path).ingest([runs]).values()) == {"unchanged"}
    assert_whole(path, sound)


@pytest.mark.parametrize("table", ["runs", "files"])
def test_a_changed_state_is_not_believed(path: Path, sound: Path, runs: Path, table: str) -> None:
    """If a remembered number of a file changed, the file is read again and not resumed."""
    with closing(sqlite3.connect(path / "state.sqlite")) as db:
        if table == "files":
            db.execute("UPDATE files SET seen = replace(seen, '\"points\": 50', '\"points\": 49')")
        else:
            db.execute("UPDATE runs SET written = replace(written, '1', '2')")
        db.commit()
    before = (runs / "run0/config.yaml").stat()
    (runs / "run0/config.yaml").touch()
    Store(path).ingest([runs])
    os.utime(runs / "run0/config.yaml", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert_whole(path, sound)


def test_the_lock_file(path: Path) -> None:
    """We never write to it, so any content is damage."""
    (path / "lock.sqlite").write_bytes(random.Random(0).randbytes(5000))
    Store(path).heal()

    assert (path / "lock.sqlite").stat().st_size == 0


def test_a_copied_store_is_sound(sound: Path, tmp_path: Path, runs: Path) -> None:
    """Other times and inodes of the same files are no damage, and nothing is read again."""
    path = Path(shutil.copytree(sound, tmp_path / "copy", copy_function=shutil.copyfile))
    store = Store(path)

    assert set(store.ingest([runs]).values()) == {"unchanged"}
    assert store.faults == []
    assert_whole(path, sound)


def test_foreign_files(path: Path, sound: Path) -> None:
    """Other files among the segments are ignored."""
    (path / "tables/runs/notes.txt").write_text("x")
    (path / "tables/runs/mine.parquet").write_bytes(b"x")
    (path / "tables/runs/1-x.parquet").write_bytes(b"x")

    assert Store(path).runs.collect().height == RUNS
    assert_whole(path, sound)


def test_segments_are_not_compacted_across_a_gap(runs: Path, tmp_path: Path) -> None:
    """A store of many segments is repaired after one of them is lost."""
    store, run = Store(tmp_path / "store"), tmp_path / "run"
    shutil.copytree(runs / "run0", run)
    store.ingest([runs])
    for i in range(33):
        (run / "config.yaml").write_text(f"seed: {i}\n")
        store.ingest([run])
        if i == 20:
            (first, *_) = sorted((store.path / "tables/config").glob("*.parquet"))
            first.unlink()
    fresh = Store(tmp_path / "fresh")
    store.ingest([runs, run])
    fresh.ingest([runs, run])

    assert content(store)["config"].equals(content(fresh)["config"])


def test_the_commands_report_and_repair(path: Path, sound: Path, runs: Path) -> None:
    """`query` ends with exit code 2 and one line; `audit` and `scan` report it on stderr and answer for all runs."""
    command = [sys.executable, "-m", "loganalyst.cli"]
    asked, healing = (
        ["query", "SELECT count(*) FROM points", "--store", str(path)],
        ["--store", str(path), "--jobs", "1"],
    )
    for table, words in {"points": ["audit", str(runs)], "runs": ["scan", str(runs)]}.items():
        empty(file_of(path, table))
        before = subprocess.run([*command, *asked], capture_output=True, text=True, check=False)
        healed = subprocess.run([*command, *words, *healing], capture_output=True, text=True, check=False)
        after = subprocess.run([*command, *asked], capture_output=True, text=True, check=False)

        assert (before.returncode, before.stdout, len(before.stderr.splitlines())) == (2, "", 1)
        assert "has 0 bytes" in before.stderr
        assert "loganalyst ingest PATH" in before.stderr
        assert healed.returncode == 1
        assert "read again" in healed.stderr
        assert (after.returncode, str(RUNS * 80) in after.stdout) == (0, True)
    assert_whole(path, sound)


@pytest.mark.parametrize("seed", range(25))
def test_damage_at_random(path: Path, sound: Path, runs: Path, seed: int) -> None:
    """Several files are damaged in any way: each query gives the answer of a sound store, or one of our errors."""
    chance, whole = random.Random(seed), sound_content(sound)
    files = [f for f in sorted(path.rglob("*")) if f.is_file() and f.parent.name not in KEPT]
    for file in chance.sample(files, chance.randint(1, 5)):
        chance.choice([f for f in DAMAGES if f is not replace])(file) if file.stat().st_size else None
    for name in (*BIG, *READ):
        try:
            rows = query.ask(Store(path), f"SELECT * FROM {name}").sort("run_id", maintain_order=True)
        except StoreError:
            continue
        assert rows.equals(whole[name]), name
    for database in path.glob("*.sqlite*"):  # with its log, if the sound store was not closed yet when it was copied
        if database.is_dir():  # that it cannot be opened may have other reasons
            database.rmdir()
    store = Store(path)
    store.ingest([runs])
    store.diagnose()

    assert_whole(path, sound)
