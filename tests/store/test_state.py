"""The memory of a store: what was noted comes back, and damaged rows are not believed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.filetables import Place
from loganalyst.store.ledger import Seal
from loganalyst.store.notes import Joined, Known, Note, Print, Seen
from loganalyst.store.state import opened, packed, unpacked

PRINT = Print(100, 5, 7)
CONFIG = table("config", {"key": ["lr"], "value": ["0.1"], "number": [0.1], "origin": ["x"]})
SEEN = Seen(
    "a.csv",
    PRINT,
    "csv",
    100,
    "head",
    "tail",
    Mark(90, {"points": 3}, {"line": 4}),
    {"points": 3, "config": 1},
    Place(1, "a/"),
    packed({"config": CONFIG}),
)
NOTE = Note(
    "3f9a1c02b7de",
    "1.0",
    {"a.csv": PRINT},
    Joined("near", ("/log",), ("why",), (), ("7",)),
    known=Known([SEEN], {"points": Seal(1, 2, 3)}),
    path="/runs/a",
)


def test_a_note_comes_back(tmp_path: Path) -> None:
    with opened(tmp_path, network=False) as state:
        state.note([NOTE])
    with opened(tmp_path, network=False) as state:
        found = state.remembered([NOTE.run, "another"])[NOTE.run]
        known = state.known(NOTE.run, "1.0")
        assert state.places() == {NOTE.run: ("/runs/a", True)}
        assert state.known(NOTE.run, "2.0") is None

    assert (found.fingerprint, found.why, found.joined) == (NOTE.fingerprint, None, NOTE.joined)
    assert found.written == {"points": Seal(1, 2, 3)}
    assert known == NOTE.known


def test_forgotten_runs(tmp_path: Path) -> None:
    with opened(tmp_path, network=False) as state:
        state.note([NOTE])
        state.forget_runs([NOTE.run])
        assert state.remembered([NOTE.run]) == {}
        state.note([NOTE])
        state.forget()
        assert state.places() == {}


def test_a_changed_row_is_not_believed(tmp_path: Path) -> None:
    with opened(tmp_path, network=False) as state:
        state.note([NOTE])
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database, database:
        database.execute("UPDATE files SET seen = replace(seen, '100', '101')")
    with opened(tmp_path, network=False) as state:
        assert state.known(NOTE.run, "1.0") is None
        assert not state.renewed


def test_a_file_that_is_no_database_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite").write_bytes(b"rubbish" * 100)
    with opened(tmp_path, network=False) as state:
        assert state.renewed
        state.note([NOTE])
        assert list(state.places()) == [NOTE.run]


def test_small_tables_are_packed_without_empty_ones() -> None:
    gaps = table("gaps", {"file": ["a", "b"], "why": ["x", "y"]})
    data = packed({"config": CONFIG, "gaps": gaps, "blocks": table("blocks")})
    found = unpacked(data, {"config": 1, "gaps": 2})

    assert list(found) == ["config", "gaps"]
    assert found["config"].equals(CONFIG)
    assert found["gaps"].equals(gaps)
    assert packed({"blocks": pl.DataFrame()}) is None
