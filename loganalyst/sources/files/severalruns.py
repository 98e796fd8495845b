"""What readers of files with several runs share: the list of runs, the choice of one, and the words for faults."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from loganalyst.errors import nearest
from loganalyst.model import Tables
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.sqliteguard import DamageError

BROKEN = (sqlite3.Error, UnicodeDecodeError, DamageError)  # UnicodeDecodeError: a message quotes damaged bytes
_SHOWN = 3  # runs that a message names


class NoStoreError(Exception):
    """The file is no store of this format, or does not contain the run asked for."""


class Runs(NamedTuple):
    """The ids of the runs in a file, and `why` some may be missing (empty: none is)."""

    ids: tuple[str, ...]
    why: str = ""


def one_line(error: Exception) -> str:
    """An error as one line.

    >>> one_line(DamageError("takes longer than 60 s to read"))
    'damaged: takes longer than 60 s to read'
    """
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror})"
    return f"{'damaged' if isinstance(error, DamageError) else 'SQLite'}: {error}"[:300]


def with_faults(path: Path, tables: Iterator[Tables]) -> Iterator[Tables]:
    """The `tables` of a store at `path`; a fault that ends them becomes a gap behind them. Raises OSError."""
    try:
        yield from tables
    except NoStoreError as error:
        yield Tables(gaps=gap(path, str(error), 0, path.stat().st_size))
    except BROKEN as error:
        yield Tables(gaps=gap(path, one_line(error), 0, path.stat().st_size))


def chosen(named: str, active: Sequence[str], file: str, deleted: Sequence[str] = ()) -> str:
    """The one run of `file` whose id begins with `named`; empty: the only run. A deleted run must be named.

    Raises NoStoreError where there is none, or several.

    >>> chosen("aa", ["aa11", "bb22"], "mlflow.db")
    'aa11'
    """
    matches = [run for run in (*active, *(deleted if named else ())) if run.startswith(named)]
    if len(matches) == 1 or named in matches:
        return named if named in matches else matches[0]
    shown = ", ".join((matches or active)[:_SHOWN]) + (", …" if len(matches or active) > _SHOWN else "")
    if not matches:
        hint = nearest(named, active) or f"it holds {shown}"
        raise NoStoreError(f"holds no run {named!r}; {hint}" if named else "holds no run that is not deleted")
    begin = f"runs that begin with {named!r}" if named else "runs"
    raise NoStoreError(f"holds {len(matches)} {begin}; name one of them as {file}#RUN: {shown}")
