"""The state of a store: facts on the files that were read, in one SQLite file. Only the lock's holder uses it."""

import io
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.filetables import SMALL, Place
from loganalyst.store.ledger import Seal
from loganalyst.store.notes import UNKNOWN, Joined, Known, Note, Print, Remembered, Seen, joined_text

FORM = 3  # of the tables; tables of another form are dropped
_FORGET = f"DROP TABLE IF EXISTS runs; DROP TABLE IF EXISTS files; PRAGMA user_version = {FORM};"
_TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, version TEXT NOT NULL, print TEXT NOT NULL, why TEXT, until REAL, written TEXT NOT NULL,
    joined TEXT NOT NULL, path TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS files (
    run TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, inode INTEGER NOT NULL,
    position INTEGER NOT NULL, seen TEXT NOT NULL, small BLOB, PRIMARY KEY (run, path)
) WITHOUT ROWID;
"""


# SQLite's errors for a file that is no database, is damaged, or has other tables than ours
_DAMAGE = {
    sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG,
}  # fmt: skip


class State:
    """The SQLite file in `folder`. If it is damaged it is made again (`renewed`), its content can be found again."""

    def __init__(self, folder: Path, *, network: bool) -> None:
        self._file = folder / "state.sqlite"
        self._network = network
        self.renewed = False
        try:
            self._database = self._opened()
        except sqlite3.DatabaseError as error:
            self._renew(error)

    def _renew(self, error: sqlite3.DatabaseError) -> None:
        """Replace the file by a new one. Raises `error` again if it means no damage, but for example a full disk."""
        if error.sqlite_errorcode & 0xFF not in _DAMAGE:
            raise error
        if hasattr(self, "_database"):
            self._database.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{self._file}{suffix}").unlink(missing_ok=True)
        self._database, self.renewed = self._opened(), True

    def _opened(self) -> sqlite3.Connection:
        uri = self._file.resolve().as_uri() + ("?nolock=1" if self._network else "")
        database = sqlite3.connect(uri, uri=True, isolation_level=None)
        try:
            database.execute(f"PRAGMA journal_mode = {'DELETE' if self._network else 'WAL'}")
            database.execute("PRAGMA synchronous = NORMAL")
            if database.execute("PRAGMA user_version").fetchone() != (FORM,):
                database.executescript(_FORGET)
            database.executescript(_TABLES)
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def remembered(self, runs: Iterable[str]) -> dict[str, Remembered]:
        """What is remembered of these runs, by id, without damaged rows. One query asks for all of them: there may be a
        hundred thousand.
        """
        query = "SELECT run, print, why, until, joined, written FROM runs WHERE run IN (SELECT value FROM json_each(?))"
        found: dict[str, Remembered] = {}
        try:
            for run, known, why, until, joined, written in self._database.execute(query, [json.dumps(list(runs))]):
                with suppress(ValueError, TypeError, AttributeError):
                    found[run] = Remembered(known, why, until and float(until), _joined(joined), _written(written))
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._renew_for(error)
            return {}
        return found

    def _renew_for(self, error: Exception) -> None:
        """As `_renew`; text that is not UTF-8 is damage too."""
        if isinstance(error, sqlite3.DatabaseError) and hasattr(error, "sqlite_errorcode"):
            self._renew(error)

    def moved(self, near: Mapping[str, Joined]) -> None:
        """Remember the new surroundings of runs that are unchanged themselves, by id."""
        try:
            with self._transaction() as database:
                rows = [(joined_text(joined), run) for run, joined in near.items()]
                database.executemany("UPDATE runs SET joined = ? WHERE run = ?", rows)
        except sqlite3.DatabaseError as error:
            self._renew(error)

    def known(self, run: str, version: str) -> Known | None:
        """The earlier reading of the run; None if this version did not read it, or the row is damaged."""
        query = "SELECT path, seen, small, size, mtime, inode FROM files WHERE run = ? ORDER BY position"
        try:
            row = self._database.execute("SELECT version, written FROM runs WHERE run = ?", [run]).fetchone()
            if row is None or row[0] != version:
                return None
            rows = self._database.execute(query, [run]).fetchall()
            files = [_seen(path, text, small, Print(*stat)) for path, text, small, *stat in rows]
            return Known(files, _written(row[1]))
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._renew_for(error)
        except (ValueError, TypeError, AttributeError):
            pass
        return None

    def places(self) -> dict[str, tuple[str, bool]]:
        """The path of each remembered run, by id, and whether it could be read the last time."""
        try:
            rows = self._database.execute("SELECT run, path, why IS NULL FROM runs").fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._renew_for(error)
            return {}
        return {str(run): (str(path), bool(read)) for run, path, read in rows}

    def forget(self) -> None:
        """Forget all runs, so that they are read again."""
        try:
            self._database.executescript(f"{_FORGET}{_TABLES}")
        except sqlite3.DatabaseError as error:
            self._renew(error)

    def forget_runs(self, runs: Collection[str]) -> None:
        """Forget these runs, so that they are read again if they are found."""
        try:
            with self._transaction() as database:
                for table in ("runs", "files"):
                    database.executemany(f"DELETE FROM {table} WHERE run = ?", [(run,) for run in runs])
        except sqlite3.DatabaseError as error:
            self._renew(error)

    def note(self, notes: Sequence[Note]) -> None:
        """Remember these notes in place of earlier ones: all or none."""
        try:
            self._note(notes)
        except sqlite3.DatabaseError as error:
            self._renew(error)
            self._note(notes)

    def _note(self, notes: Sequence[Note]) -> None:
        with self._transaction() as database:
            for note in notes:
                database.execute("DELETE FROM files WHERE run = ?", [note.run])
                written, joined = json.dumps(note.known.written), joined_text(note.joined)
                row = (note.run, note.version, note.fingerprint, note.why, note.until, written, joined, note.path)
                database.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
                database.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _rows(note))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _rows(note: Note) -> Iterator[tuple[Any, ...]]:
    for position, file in enumerate(note.known.files):
        stat = note.prints.get(file.path, UNKNOWN)
        yield (note.run, file.path, *stat, position, _text(file), file.small)


@lru_cache(1 << 12)  # most runs have the same
def _joined(text: str) -> Joined:
    near, *lists = json.loads(text)
    return Joined(near, *map(tuple, lists))


def _written(text: str) -> dict[str, Seal]:
    return {name: Seal(*sealed) for name, sealed in json.loads(text).items()}


def _text(seen: Seen) -> str:
    """A file as text, after a digest of the text and of its rows, so that a flipped bit is noticed."""
    mark = [seen.mark.offset, dict(seen.mark.kept), dict(seen.mark.state)] if seen.mark else None
    text = json.dumps([seen.format, seen.length, seen.head, seen.tail, mark, dict(seen.rows), seen.place])
    return _digest(text, seen.small) + text


def _digest(text: str, small: bytes | None) -> str:
    return blake2b(text.encode() + (small or b""), digest_size=8).hexdigest()


def _seen(path: str, text: str, small: bytes | None, stat: Print) -> Seen:
    """The file from its text. Raises ValueError where the text is damaged."""
    digest, text = text[:16], text[16:]
    if digest != _digest(text, small):
        raise ValueError(path)
    format_, length, head, tail, mark, rows, place = json.loads(text)
    return Seen(
        path,
        stat,
        format_,
        length,
        head,
        tail,
        Mark(*mark) if mark else None,
        rows,
        Place(*place),
        small,
    )


def packed(small: Mapping[str, pl.DataFrame]) -> bytes | None:
    """Frames one after another, each after its length, in the order of SMALL; empty ones are left out."""
    out = io.BytesIO()
    for name in SMALL:
        if name in small and small[name].height:
            data = io.BytesIO()
            small[name].write_ipc_stream(data, compression="zstd")
            out.write(data.tell().to_bytes(8, "little") + data.getvalue())
    return out.getvalue() or None


def unpacked(blob: bytes | None, rows: Mapping[str, int]) -> dict[str, pl.DataFrame]:
    """The frames of `packed`, which had these numbers of rows."""
    data, frames = io.BytesIO(blob or b""), {}
    for name in SMALL:
        if rows.get(name):
            length = int.from_bytes(data.read(8), "little")
            frames[name] = pl.read_ipc_stream(io.BytesIO(data.read(length)))
    return frames


def opened(folder: Path, *, network: bool) -> "closing[State]":
    """The state; it is closed at the end of the block."""
    return closing(State(folder, network=network))
