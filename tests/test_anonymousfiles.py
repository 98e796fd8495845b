"""The first bytes of a document of `show --anonymous`."""

import os
from pathlib import Path

import pytest

from loganalyst.anonymousfiles import is_document


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ('{"schema": "loganalyst/anonymous/1", "runs": []}', True),
        ('\n {\n "schema" : "loganalyst/anonymous/2"', True),
        ('{"runs": [], "schema": "loganalyst/anonymous/1"}', False),
        ('{"schema": "loganalyst/diagnosis/1"}', False),
        ("", False),
    ],
)
def test_a_document_names_its_schema_first(tmp_path: Path, text: str, is_one: bool) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)

    assert is_document(file) is is_one


def test_what_is_no_file_is_no_document(tmp_path: Path) -> None:
    """A pipe is not opened: reading it would wait for a writer."""
    os.mkfifo(tmp_path / "pipe")

    assert not is_document(tmp_path / "pipe")
    assert not is_document(tmp_path)
    assert not is_document(tmp_path / "absent")
