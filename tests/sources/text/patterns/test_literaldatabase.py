"""The compiled search for literals: it is used again if it fits, and made anew in every other case."""

import os
from pathlib import Path

import pytest

from loganalyst.rulefiles.sealedfile import sealed
from loganalyst.sources.text.patterns import literaldatabase
from loganalyst.sources.text.patterns.literaldatabase import database, file, is_new, keep

hyperscan = pytest.importorskip("hyperscan")
REGEXES, FLAGS = [b"two", b"one$"], [0, 4]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it would be kept; nothing is there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(literaldatabase, "_new", {})
    found = file()
    assert found is not None
    return found


def seen(search: object) -> list[tuple[int, int]]:
    """What it finds in two lines: number of the regex, and end."""
    found: list[tuple[int, int]] = []
    search.scan(b"two one\none two", match_event_handler=lambda n, _, end, *__: found.append((n, end)))  # type: ignore[attr-defined]
    return sorted(found)


FOUND = [(0, 3), (0, 15), (1, 7)]


def test_a_kept_search_finds_the_same(place: Path) -> None:
    first = seen(database(REGEXES, FLAGS))
    made = is_new()
    keep(place)
    again = seen(database(REGEXES, FLAGS))

    assert first == again == FOUND
    assert [made, is_new()] == [True, False]
    assert place.stat().st_mode & 0o777 == 0o600


def test_other_regexes_or_flags_are_compiled(place: Path) -> None:
    """The file is replaced by the latest."""
    database(REGEXES, FLAGS)
    keep(place)

    assert seen(database([b"one", b"two"], [0, 0])) == [(0, 7), (0, 11), (1, 3), (1, 15)]
    assert seen(database(REGEXES, [0, 0])) == [(0, 3), (0, 15)]  # `$` is the end of the text, without the flag
    keep(place)
    assert not is_new()


def test_a_search_of_another_processor_or_version_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder may be shared by different machines."""
    database(REGEXES, FLAGS)
    keep(place)
    monkeypatch.setattr("platform.machine", lambda: "quux64")

    assert seen(database(REGEXES, FLAGS)) == FOUND
    assert is_new()


@pytest.mark.parametrize("damage", ["empty", "cut", "bit", "no database", "cut database"])
def test_a_damaged_file_is_ignored(place: Path, damage: str) -> None:
    """And the next keeping replaces it. What hyperscan refuses under a right checksum is compiled, too."""
    database(REGEXES, FLAGS)
    stamp, content = next(iter(literaldatabase._new.items()))
    keep(place)
    whole = place.read_bytes()
    damaged = {
        "empty": b"", "cut": whole[:-1], "bit": whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
        "no database": sealed(b"x" * 999, stamp), "cut database": sealed(content[:-40], stamp),
    }  # fmt: skip
    place.write_bytes(damaged[damage])

    assert seen(database(REGEXES, FLAGS)) == FOUND
    assert is_new()
    keep(place)
    assert place.read_bytes() == whole


def test_a_file_that_others_may_write_is_ignored(place: Path) -> None:
    """By its permissions, or a link to one of ours."""
    database(REGEXES, FLAGS)
    keep(place)
    place.chmod(0o666)
    database(REGEXES, FLAGS)
    writable = is_new()
    keep(place)
    place.rename(place.with_name("moved"))
    place.symlink_to("moved")
    database(REGEXES, FLAGS)

    assert [writable, is_new()] == [True, True]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_ignored(place: Path) -> None:
    database(REGEXES, FLAGS)
    keep(place)
    os.chown(place, 12345, -1)
    database(REGEXES, FLAGS)

    assert is_new()


def test_where_it_cannot_be_written_nothing_happens(place: Path) -> None:
    database(REGEXES, FLAGS)
    place.parent.parent.mkdir()
    place.parent.write_text("a file in place of the folder")
    keep(place)

    assert not is_new()
    assert seen(database(REGEXES, FLAGS)) == FOUND
