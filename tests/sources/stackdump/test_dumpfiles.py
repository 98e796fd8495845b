"""Files that a profiler wrote."""

from pathlib import Path

import polars as pl

from loganalyst.sources.stackdump import dumpfiles


def _why(found: object) -> list[str]:
    assert isinstance(found, pl.DataFrame)
    return found["why"].to_list()


def test_a_file_is_parsed_or_becomes_a_gap(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 do not stop the parser; what it raises for the content is the reason."""
    dump = tmp_path / "dump.txt"
    dump.write_bytes(b"7\xff")

    assert dumpfiles.parsed(dump, "profile", 10, len) == 2
    assert _why(dumpfiles.parsed(dump, "profile", 1, len)) == ["a profile larger than 0 MiB"]
    assert _why(dumpfiles.parsed(dump, "profile", 10, int)) == [
        "not a readable profile (invalid literal for int() with base 10: '7\ufffd')"
    ]


def test_a_gap_has_the_extent_of_the_file(tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_text("seven")
    found = dumpfiles.parsed(dump, "profile", 10, int)

    assert isinstance(found, pl.DataFrame)
    assert found.select("file", "offset", "bytes").rows() == [("dump.txt", 0, 5)]
