"""A database made to hang, to fill memory or to write elsewhere ends with a reason, and Ctrl-C ends it at once."""

import signal
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.sources.files.sqliteguard import DamageError, Guarded, opened_database
from loganalyst.sources.mlflow import database_reader

PAGE = 512
FOR_EVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
INTERIOR = {2: 12, 5: 12}  # kind of a page -> where its pointers to cells begin


def database(path: Path, rows: int = 3000) -> Path:
    """A store of MLflow's in small pages: its tables are trees of three levels."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA page_size={PAGE}")
        db.execute("CREATE TABLE runs (run_uuid VARCHAR(32), name TEXT, start_time BIGINT, lifecycle_stage TEXT)")
        db.execute("CREATE TABLE metrics (key TEXT, value REAL, timestamp BIGINT, run_uuid VARCHAR(32), step BIGINT)")
        db.execute("CREATE TABLE params (key TEXT, value TEXT, run_uuid VARCHAR(32))")
        ids = [f"{i:032}" for i in range(rows)]
        db.executemany("INSERT INTO runs VALUES (?, 'n', 1700000000000, 'active')", [(i,) for i in ids])
        db.executemany("INSERT INTO params VALUES ('lr', '0.1', ?)", [(i,) for i in ids])
        db.executemany("INSERT INTO metrics VALUES ('loss', 1.0, 1, ?, 0)", [(ids[0],) for _ in ids])
        db.commit()
    return path


def repointed(data: bytearray, page: int, child: int) -> None:
    """Let every pointer of an interior page lead to one child."""
    at = (page - 1) * PAGE
    begin = at + (100 if page == 1 else 0)
    (cells,) = struct.unpack_from(">H", data, begin + 3)
    for i in range(cells):
        (cell,) = struct.unpack_from(">H", data, begin + 12 + 2 * i)
        struct.pack_into(">I", data, at + cell, child)
    struct.pack_into(">I", data, begin + 8, child)


def interior(data: bytes) -> list[int]:
    """The pages of the file that point to others."""
    return [n for n in range(2, len(data) // PAGE + 1) if data[(n - 1) * PAGE] in INTERIOR]


def bomb(path: Path, table: str, levels: int = 12) -> Path:
    """Make the root of a table begin a chain of pages; each page refers to the next one forty times."""
    with closing(sqlite3.connect(path)) as db:
        roots = dict(db.execute("SELECT name, rootpage FROM sqlite_master"))
    root = roots.get(table, 1)
    data = bytearray(path.read_bytes())
    (first,) = struct.unpack_from(">H", data, (root - 1) * PAGE + (112 if root == 1 else 12))
    (child,) = struct.unpack_from(">I", data, (root - 1) * PAGE + first)
    fullest = max(
        (n for n in interior(data) if data[(n - 1) * PAGE] == 5),
        key=lambda n: struct.unpack_from(">H", data, (n - 1) * PAGE + 3)[0],
    )
    for _ in range(levels):
        data += data[(fullest - 1) * PAGE : fullest * PAGE]
        repointed(data, len(data) // PAGE, child)
        child = len(data) // PAGE
    repointed(data, root, child)
    struct.pack_into(">I", data, 28, len(data) // PAGE)
    data[92:96] = data[24:28]
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("table", ["runs", "metrics", "params"])
def test_pages_that_name_one_another_end(tmp_path, table):
    """Each of these trees has more than 10^15 rows to scan: listing and reading end, with the reason."""
    path = bomb(database(tmp_path / "mlflow.db"), table)
    listed = database_reader.runs(path)
    gaps = [why for tables in database_reader.read(path, "0" * 32) for why in tables.gaps["why"]]

    assert (len(listed.ids), listed.why.partition(":")[0]) == ((0, "damaged") if table == "runs" else (3000, ""))
    assert any(why.startswith("damaged: ") for why in gaps), gaps


def test_the_table_of_tables_may_be_such_a_tree(tmp_path):
    """SQLite reads it before the first query."""
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA page_size={PAGE}")
        db.executescript("BEGIN;" + "".join(f"CREATE TABLE t{i} (a);" for i in range(3000)) + "COMMIT;")

    assert database_reader.runs(bomb(path, "sqlite_master")).why


def test_a_query_that_takes_too_long_is_stopped():
    """By the clock where the file is large enough for any number of steps."""
    with closing(sqlite3.connect(":memory:")) as db:
        guarded = Guarded(db, size=1 << 60, seconds=0.05)
        with pytest.raises(DamageError, match=r"takes longer than 0\.05 s to read"):
            guarded.rows(FOR_EVER)


def test_only_the_time_in_sqlite_counts(tmp_path, monkeypatch):
    """Only the time in SQLite counts: the clock goes on by a minute between two batches."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with opened_database(database(tmp_path / "m.db"), seconds=50) as guarded:
        sizes = []
        for batch in guarded.batches("SELECT run_uuid FROM runs", batch=1000):
            sizes.append(len(batch))
            now[0] += 60

    assert sizes == [1000, 1000, 1000]


def test_an_alarm_is_no_damage():
    """An exception from a signal handler passes through SQLite unchanged."""

    class RungError(Exception):
        pass

    def ring(*_: object) -> None:
        raise RungError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            guarded = Guarded(db, size=1 << 60, seconds=1e9)
            with pytest.raises(RungError):
                guarded.rows(FOR_EVER)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_ends_a_query():
    """A process that waits for SQLite ends at SIGINT as Python does.

    A shell starts background jobs, so perhaps these tests, with SIGINT ignored, and a child inherits that.
    """
    code = f"""
import signal, sqlite3
signal.signal(signal.SIGINT, signal.default_int_handler)
from loganalyst.sources.files.sqliteguard import Guarded
guarded = Guarded(sqlite3.connect(":memory:"), size=1 << 60, seconds=1e9)
print("ready", flush=True)
guarded.rows({FOR_EVER!r})
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            program.send_signal(signal.SIGINT)
            _, said = program.communicate(timeout=120)
        finally:
            program.kill()

    assert (program.returncode, said.splitlines()[-1]) == (-signal.SIGINT, "KeyboardInterrupt")


def test_a_journal_that_names_another_file_is_not_played_back(tmp_path):
    """SQLite would delete the named file; the database is read as it is."""
    path, named = database(tmp_path / "mlflow.db"), tmp_path / "thesis.txt"
    named.write_text("mine")
    name = str(named).encode()
    end = name + struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 0, 1, 3, 512, PAGE)
    (tmp_path / "mlflow.db-journal").write_bytes(head.ljust(512, b"\0") + struct.pack(">I", 1 << 21) + end)
    gaps = [why for tables in database_reader.read(path, "0" * 32) for why in tables.gaps["why"]]

    assert gaps == ["mlflow.db-journal: names another file, its changes are not read"]
    assert named.read_text() == "mine"


def test_columns_that_are_computed_are_not_asked_for(tmp_path):
    """A slow computed column is left out and reported; with a computed column that is needed, the table is not
    MLflow's.
    """
    cheap, costly = "instr('8', '4')", "instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')"
    virtual = f"GENERATED ALWAYS AS ({cheap}) VIRTUAL"
    for name, columns in {
        "more": f"run_uuid TEXT, status TEXT, lifecycle_stage TEXT {virtual}, more INT {virtual}",
        "needed": f"id TEXT, run_uuid TEXT {virtual}",
        "stored": f"id TEXT, run_uuid TEXT {virtual.replace('VIRTUAL', 'STORED')}",
    }.items():
        with closing(sqlite3.connect(tmp_path / f"{name}.db")) as db:
            db.execute(f"CREATE TABLE runs ({columns})")
            db.execute("CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT)")
            db.execute(f"INSERT INTO runs ({columns.partition(' ')[0]}) VALUES ('aa')")
            db.execute("PRAGMA writable_schema=ON")
            db.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", [cheap, costly])
            db.commit()
    gaps = [why for tables in database_reader.read(tmp_path / "more.db") for why in tables.gaps["why"]]

    assert gaps == ["runs: lifecycle_stage, more: computed columns are not read"]
    for name in ("needed", "stored"):
        (tables,) = database_reader.read(tmp_path / f"{name}.db")
        assert "no usable table 'runs'" in tables.gaps["why"].item()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("mlflow.db", b"", "a SQLite database, but not a store of MLflow (no usable table 'runs')"),
        ("my-MLruns.sqlite", b"no database at all, but named as one\n" * 20, "SQLite: file is not a database"),
        ("mlflow.sqlite3", b"SQLite format 3\0", "SQLite: file is not a database"),
        ("cache.db", b"SQLite format 3\0", ""),
        ("cache.db", b"", ""),
        ("notes.db", b"SQLite format 3\0" + b"CREATE TABLE runs (run_uuid TEXT)".rjust(600, b"\0"), "SQLite: "),
    ],
)
def test_an_unreadable_store_gives_the_reason(tmp_path, name, content, why):
    """Databases of other programs are skipped, unless they mention MLflow's runs."""
    (tmp_path / name).write_bytes(content)
    found = database_reader.runs(tmp_path / name).why

    assert found.startswith(why) if why else not found


def test_runs_before_the_damage_are_listed(tmp_path):
    """If the last page of a table is damaged, the runs of the other pages are listed, with a note that there may be
    more.
    """
    path = database(tmp_path / "mlflow.db")
    with closing(sqlite3.connect(path)) as db:
        ((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'")
    data = bytearray(path.read_bytes())
    struct.pack_into(">I", data, (root - 1) * PAGE + 8, 1 << 30)  # its last child
    path.write_bytes(data)
    found = database_reader.runs(path)

    assert 0 < len(found.ids) < 3000
    assert list(found.ids) == [f"{i:032}" for i in range(len(found.ids))]
    assert found.why == "SQLite: database disk image is malformed"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_pages_that_are_joined_at_random_end(tmp_path, data):
    """Interior pages lead anywhere: nothing is raised, nothing hangs."""
    path = tmp_path / "mlflow.db"
    if not path.exists():
        database(path, 400)
        path.with_suffix(".sound").write_bytes(path.read_bytes())
    pages = bytearray(path.with_suffix(".sound").read_bytes())
    for page in data.draw(st.lists(st.sampled_from(interior(pages)), min_size=1, max_size=6)):
        repointed(pages, page, data.draw(st.integers(0, len(pages) // PAGE + 2)))
    path.write_bytes(pages)
    found = database_reader.runs(path)
    for id_ in found.ids[:2]:
        for tables in database_reader.read(path, id_):
            assert tables.points.height <= len(pages)
