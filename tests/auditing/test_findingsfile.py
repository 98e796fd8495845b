"""The file of findings contains only complete lines."""

from pathlib import Path

from loganalyst.auditing.findingsfile import FindingsFile


def test_a_partial_line_of_a_killed_scan_is_cut_off(tmp_path: Path) -> None:
    file = FindingsFile(tmp_path / "found.jsonl")
    file.add(['{"id": "a"}'])
    with file.path.open("a") as handle:
        handle.write('{"id": "b"')
    file.add(['{"id": "c"}', '{"id": "d"}'])

    assert file.path.read_text() == '{"id": "a"}\n{"id": "c"}\n{"id": "d"}\n'


def test_a_file_without_a_complete_line_is_emptied(tmp_path: Path) -> None:
    """Also if the partial line is longer than the blocks that are searched."""
    file = FindingsFile(tmp_path / "found.jsonl")
    file.path.write_text("x" * 200_000)
    file.add(["{}"])

    assert file.path.read_text() == "{}\n"


def test_only_complete_lines_count_as_written(tmp_path: Path) -> None:
    file = FindingsFile(tmp_path / "found.jsonl")

    assert file.written({"a"}) == set()
    file.path.write_text('{"id": "a"}\nnot JSON\n[1]\n{"id": "b"}')
    assert file.written({"a", "b", "x"}) == {"a"}
