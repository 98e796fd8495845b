"""Trackio's store: one run of the file, value for value. Recorded with trackio 0.43; 0.12 had no ids of runs."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from loganalyst.errors import SourceError
from loganalyst.model import Tables
from loganalyst.sources import formats
from loganalyst.sources.discovery import runs as discover
from loganalyst.sources.ingest import ingest
from loganalyst.sources.trackio import reader

# as trackio 0.43 creates them: the table of metrics is written anew when columns are added
SCHEMA = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL,
  run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL,
  config TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE(run_id));
CREATE TABLE system_metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL,
  run_name TEXT NOT NULL, metrics TEXT NOT NULL);
CREATE INDEX idx_metrics_run_step ON metrics(run_id, step);
"""
OLD = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
  step INTEGER NOT NULL, metrics TEXT NOT NULL);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_name TEXT NOT NULL, config TEXT NOT NULL,
  created_at TEXT NOT NULL, UNIQUE(run_name));
"""
AT = "2026-11-26T04:13:1{}.5+00:00"
FIRST = [{"train/loss": 2.0, "acc": 1, "nested": {"a": 3}}, {"train/loss": "NaN", "inf": "-Infinity"}]
CONFIG = {"lr": 0.1, "model": {"dim": 3}, "api_key": "hf_abcdefgh", "_Username": "me", "_Created": AT.format(0)}


def store(path: Path, runs: dict[str, tuple[str, list[dict[str, object]]]]) -> Path:
    """A store with the run `id: (name, one object a step)`, steps in tens; cells are bytes, as orjson gives them."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMA)
        for key, (name, rows) in runs.items():
            db.execute(
                "INSERT INTO configs (run_id, run_name, config, created_at) VALUES (?, ?, ?, ?)",
                (key, name, json.dumps(CONFIG).encode(), AT.format(9)),
            )
            for i, row in enumerate(rows):
                cells = (key, AT.format(i), name, 10 * i, json.dumps(row).encode())
                db.execute(
                    "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", cells
                )
            db.execute(
                "INSERT INTO system_metrics (run_id, timestamp, run_name, metrics) VALUES (?, ?, ?, ?)",
                (key, AT.format(1), name, b'{"gpu":0.5}'),
            )
        db.commit()
    return path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return store(tmp_path / "demo.db", {"aa": ("one", FIRST), "bb": ("two", [{"loss": 1.0}])})


def read(path: Path, run: str = "") -> Tables:
    return Tables.concat(reader.read(path, run))


def test_a_run_is_read_value_for_value(two):
    """NaN and infinity are texts in the store; system metrics have no step; secrets are left out."""
    found = read(two, "one")

    assert str(found.points.select("metric", "step", "value").rows()) == (
        "[('train/loss', 0, 2.0), ('acc', 0, 1.0), ('nested/a', 0, 3.0), ('train/loss', 10, nan), ('inf', 10, -inf), "
        "('system/gpu', None, 0.5)]"
    )
    assert [time.second for time in found.points["time"]] == [10, 10, 10, 11, 11, 11]
    assert found.config.select("key", "value").rows() == [
        ("lr", "0.1"),
        ("model.dim", "3"),
        ("api_key", "(left out: looks like a secret)"),
    ]
    assert [(row["started"].second, row["status"]) for row in found.sessions.iter_rows(named=True)] == [(10, "unknown")]
    assert found.gaps.height == 0


def test_each_run_has_an_address(two):
    """A file with several runs is read a run at a time, by name or its beginning."""
    assert formats.runs_in(two).runs == (f"{two}#one", f"{two}#two")
    assert [found.root.name for found in discover.runs(two.parent)] == ["demo.db#one", "demo.db#two"]
    assert ingest(Path(f"{two}#tw")).points["value"].to_list() == [1.0, 0.5]
    assert read(two).gaps["why"].to_list() == ["holds 2 runs; name one of them as demo.db#RUN: one, two"]
    with pytest.raises(SourceError, match="holds no run 'twa'; did you mean 'two'"):
        ingest(Path(f"{two}#twa"))


def test_runs_of_one_name_are_named_by_id(tmp_path):
    """So is a run whose name cannot be part of a path."""
    runs = {"aa": ("same", FIRST), "bb": ("same", FIRST), "cc": ("a/b", FIRST), "dd": ("fine", FIRST)}

    assert reader.runs(store(tmp_path / "demo.db", runs)).ids == ("aa", "bb", "cc", "fine")


def test_stores_without_ids_of_runs(tmp_path):
    """Before trackio 0.24 the name was the key, and cells were texts."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(OLD)
        rows = [("2026-01-01T00:00:00", name, 5, '{"loss": 0.5}') for name in ("x", "y")]
        db.executemany("INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?)", rows)
        db.commit()

    assert reader.runs(path).ids == ("x", "y")
    assert read(path, "y").points.select("metric", "step", "value").rows() == [("loss", 5, 0.5)]


def test_rows_that_are_no_objects_are_a_gap(tmp_path):
    path = store(tmp_path / "demo.db", {"aa": ("one", FIRST)})
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE metrics SET metrics = 'cut {' WHERE step = 0")
        db.commit()
    found = read(path)

    assert found.points["metric"].to_list() == ["train/loss", "inf", "system/gpu"]
    assert found.gaps["why"].to_list() == ["metrics: 1 rows are not JSON objects"]


def test_damage_costs_only_its_table(tmp_path):
    path = store(tmp_path / "demo.db", {"aa": ("one", FIRST)})
    with closing(sqlite3.connect(path)) as db:
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'configs'")
    content = bytearray(path.read_bytes())
    content[4096 * (page - 1) : 4096 * page] = bytes(4096)
    path.write_bytes(content)
    found = read(path)

    assert found.points.height == 6
    assert found.gaps["why"].to_list() == ["SQLite: database disk image is malformed"]


def test_it_is_recognised_by_its_tables(tmp_path, two):
    """Not by its name: also where the tables are still in the log of a writer that was killed, and not as MLflow's."""
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as db:
        db.execute("CREATE TABLE metrics (run_uuid TEXT, key TEXT, value FLOAT, timestamp BIGINT)")
        db.commit()
    live = tmp_path / "live.db"
    db = sqlite3.connect(live)
    db.execute("PRAGMA journal_mode=WAL")
    db.executescript(SCHEMA)
    db.execute("INSERT INTO metrics VALUES (1, 'aa', '2026-01-01T00:00:00', 'one', 5, '{\"loss\": 0.5}', NULL, NULL)")
    db.commit()
    heads = SimpleNamespace(**{f.stem: f.read_bytes()[:100] for f in (two, tmp_path / "mlflow.db", live)})

    assert reader.sniff(two, heads.demo) == 0.95
    assert reader.sniff(tmp_path / "mlflow.db", heads.mlflow) == 0.0
    assert reader.sniff(live, heads.live) == 0.95
    assert read(live).points["value"].to_list() == [0.5]
    db.close()
