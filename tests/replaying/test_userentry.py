"""Names of entries, and the functions that they name."""

import pytest

from loganalyst.errors import ReplayError
from loganalyst.replaying import userentry
from tests.replaying import entries


def test_a_function_is_named_by_its_module():
    assert userentry.entry_name(entries.healthy) == "tests.replaying.entries:healthy"
    assert userentry.entry_name("train.py:replay_spec") == "train.py:replay_spec"


@pytest.mark.parametrize("entry", ["train", ":spec", "train:", "train:a-b", lambda: None])
def test_an_invalid_name_is_refused(entry):
    with pytest.raises(ReplayError, match="is not"):
        userentry.entry_name(entry)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("no_such_module:spec", "there is no module 'no_such_module'"),
        ("no/such/file.py:spec", "there is no file no/such/file.py"),
        (f"{entries.__file__}:helthy", "did you mean 'healthy'"),
        (f"{entries.__file__}:ROWS", "ROWS is a int"),
    ],
)
def test_an_entry_that_cannot_be_found_is_refused(entry, message, monkeypatch):
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    with pytest.raises(ReplayError, match=message):
        userentry.call(entry)
