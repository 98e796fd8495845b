"""The fingerprint of a run covers all that must stay the same."""

from pathlib import Path

import pytest

from loganalyst.store.notes import Joined, Note, Print, fingerprint, joined_text, stat_of

PRINT = Print(100, 5, 7)
NOTE = Note("3f9a1c02b7de", "1.0", {"a.csv": PRINT}, Joined("near", ("/log",), ("why",), (), ("7",)))


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"prints": {"a.csv": Print(100, 6, 7)}}, False),
        ({"prints": {"a.csv": PRINT, "b.csv": PRINT}}, False),
        ({"version": "1.1"}, False),
        ({"corrected": "x"}, False),
        ({"joined": Joined("near")}, False),
        ({"joined": NOTE.joined._replace(near="moved")}, True),
    ],
)
def test_the_fingerprint_covers_all_but_the_surroundings(changes: dict[str, object], same: bool) -> None:
    values = {"version": "1.0", "corrected": "", "joined": NOTE.joined, "prints": NOTE.prints, **changes}

    assert (fingerprint(**values) == NOTE.fingerprint) is same  # type: ignore[arg-type]


def test_stat_of(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    found = stat_of(tmp_path / "a")

    assert found is not None
    assert found.size == 3
    assert stat_of(tmp_path / "b") is None


def test_joined_files_as_text() -> None:
    assert joined_text(NOTE.joined) == '["near", ["/log"], ["why"], [], ["7"]]'
