"""The last lines of a log."""

import re
from pathlib import Path

import pytest

from loganalyst.sources.text.metrics.lastlines import last_lines


def test_lines_are_numbered_back_from_the_last(tmp_path: Path) -> None:
    """The 11 bytes cut line 2; its rest keeps the number."""
    log = tmp_path / "train.log"
    log.write_text("first\nsecond\nthird\nend\n")

    assert last_lines(log, 4, 11).rows() == [(2, ""), (3, "third"), (4, "end")]


@pytest.mark.parametrize("content", ["loss 0.5\n".encode("utf-16"), b"no number\n"])
def test_texts_that_cannot_hold_what_is_sought_have_none(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(content)

    assert last_lines(log, 1, 100, re.compile(rb"[0-9]")).rows() == []
