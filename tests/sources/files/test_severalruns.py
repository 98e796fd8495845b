"""The choice of one run among several, and the words for faults."""

import sqlite3

import pytest

from loganalyst.model import Tables
from loganalyst.sources.files.severalruns import NoStoreError, chosen, one_line, with_faults
from loganalyst.sources.files.sqliteguard import DamageError


def test_a_run_is_chosen_by_the_beginning_of_its_id():
    assert chosen("", ["aa"], "f.db") == "aa"
    assert chosen("a", ["aa", "bb"], "f.db") == "aa"
    assert chosen("aa", ["aa", "aab"], "f.db") == "aa"
    assert chosen("d", ["aa"], "f.db", deleted=["dd"]) == "dd"


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("", "holds 2 runs; name one of them as f.db#RUN: aa, ab"),
        ("a", "holds 2 runs that begin with 'a'; name one of them as f.db#RUN: aa, ab"),
        ("ac", "holds no run 'ac'; it holds aa, ab"),
    ],
)
def test_what_is_not_one_run_is_explained(named, why):
    with pytest.raises(NoStoreError) as error:
        chosen(named, ["aa", "ab"], "f.db")
    assert str(error.value) == why


def test_errors_are_one_line():
    assert one_line(DamageError("too long")) == "damaged: too long"
    assert one_line(sqlite3.DatabaseError("malformed")) == "SQLite: malformed"
    assert one_line(PermissionError(13, "Permission denied")) == "cannot be read (Permission denied)"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (NoStoreError("no usable table 'runs'"), "no usable table 'runs'"),
        (DamageError("ends early"), "damaged: ends early"),
    ],
)
def test_a_fault_stands_behind_what_was_read(tmp_path, error, why):
    """As a gap over the whole file."""
    path = tmp_path / "store.db"
    path.write_bytes(bytes(7))

    def tables():
        yield Tables()
        raise error

    first, last = with_faults(path, tables())

    assert first.gaps.is_empty()
    assert (last.gaps["why"].item(), last.gaps["bytes"].item()) == (why, 7)
