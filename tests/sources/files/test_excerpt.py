"""Lines of a log around the one that matters."""

from pathlib import Path

import pytest

from loganalyst.model import Excerpt, Run, table
from loganalyst.sources.files.excerpt import excerpts

LOG = "".join(f"step {i} loss 0.5\n" for i in range(1, 41)) + "RuntimeError: it broke\nsrun: exited\n"


def run_of(folder: Path, text: str, line: int, *, name: str = "train.log", **block: int) -> Run:
    """A run whose log has this text, with one matched line."""
    (folder / name).write_bytes(text.encode())
    before = "".join(f"{text}\n" for text in text.split("\n")[: line - 1])
    said = text.split("\n")[line - 1]
    lines = table("lines", {"file": name, "line": [line], "offset": [len(before.encode())], "text": [said]})
    return Run(path=folder, lines=lines, blocks=table("blocks", {"file": name, **block} if block else None))


def test_eight_lines_before_and_what_follows(tmp_path):
    """With the number of the first; the file ends behind the last."""
    found = excerpts(run_of(tmp_path, LOG, 41), [("train.log", 41)])

    before = tuple(f"step {i} loss 0.5" for i in range(33, 41))
    assert found == (Excerpt("train.log", 33, (*before, "RuntimeError: it broke", "srun: exited"), 41),)


def test_a_traceback_is_shown_from_its_head(tmp_path):
    """With the two lines above it."""
    run = run_of(tmp_path, LOG, 41, block=[0], first_line=20, last_line=41, kind="python")

    assert excerpts(run, [("train.log", 41)])[0].first_line == 18


def test_the_first_line_has_nothing_above(tmp_path):
    """Numbers begin with 1."""
    found = excerpts(run_of(tmp_path, "boom\nafter\n", 1), [("train.log", 1), ("train.log", 1)])

    assert found == (Excerpt("train.log", 1, ("boom", "after"), 1),)


def test_a_bar_shows_its_last_state_and_no_secret(tmp_path):
    """As on the screen it was printed to; keys are left out by name."""
    text = "10%\r 50%\r100%\nHF_TOKEN=hf_abcdef api_key: 'sk-1234'\nfatal\n"
    found = excerpts(run_of(tmp_path, text, 3), [("train.log", 3)])

    left_out = "(left out: looks like a secret)"
    assert found[0].lines == ("100%", f"HF_TOKEN={left_out} api_key: '{left_out}'", "fatal")


def test_far_into_a_large_log_few_bytes_are_read(tmp_path):
    """Lines that begin before the bytes that are read are left out, not cut."""
    text = "x" * 200_000 + "\nnear\nboom\n" + "y" * 200_000
    found = excerpts(run_of(tmp_path, text, 3), [("train.log", 3)])

    assert found[0].lines[:2] == ("near", "boom")
    assert found[0].first_line == 2
    assert len(found[0].lines[2]) == 4096


@pytest.mark.parametrize("places", [[], [(None, None)], [("train.log", None)], [("other.log", 41)], [("train.log", 7)]])
def test_causes_without_a_line_have_no_excerpt(tmp_path, places):
    """Causes of curves, lines of other files, lines that did not match."""
    assert excerpts(run_of(tmp_path, LOG, 41), places) == ()


def test_a_changed_or_missing_log_has_no_excerpt(tmp_path):
    """Another line is in its place now, or the file is gone."""
    run = run_of(tmp_path, LOG, 41)
    (tmp_path / "train.log").write_text("z" * 5000)
    assert excerpts(run, [("train.log", 41)]) == ()
    (tmp_path / "train.log").unlink()
    assert excerpts(run, [("train.log", 41)]) == ()
