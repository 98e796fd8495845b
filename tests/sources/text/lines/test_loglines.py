"""Lines taken from the bytes of a log all at once equal those read line by line."""

import re
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines import loglines as lines
from loganalyst.sources.text.sizes import SIZES, Sizes


@given(st.text(st.characters(codec="utf-8")))
def test_lines_end_at_lf_in_small_and_large_texts(text: str) -> None:
    assert lines.split(text.encode(), polars_from=1).to_list() == text.split("\n")


@pytest.mark.parametrize("text", ["x^2 is the loss\nstep 1", "x\x01\x80\n", "\x1f\ufffd"])
def test_a_text_may_begin_like_a_compressed_file(text: str) -> None:
    assert lines.split(text.encode(), polars_from=1).to_list() == text.split("\n")


@given(st.lists(st.integers(1, 70), max_size=40), st.integers(0, 70))
def test_ends_of_lines_are_found_at_any_distance(lengths: list[int], rest: int) -> None:
    """One, two or more among 32 bytes, and the bytes behind the last 32."""
    at = np.cumsum(np.array(lengths, np.int64)) - 1
    mask = np.zeros(sum(lengths) + rest, bool)
    mask[at] = True
    assert lines._places(mask).tolist() == at.tolist()


@given(st.lists(st.sampled_from([b"\n", b"\t", b"\r", b"\x1b", b"x", b"chatter of a line"]), max_size=60))
def test_rows_begin_behind_lf_and_other_control_characters_are_known(parts: list[bytes]) -> None:
    data = b"".join(parts)
    starts, others = lines._starts(data, cache=16)
    lengths = [len(line) + 1 for line in data.split(b"\n")]
    assert starts.tolist() == [0, *np.cumsum(lengths).tolist()]
    assert others == set(data) & set(b"\t\r\x1b")


@given(
    st.lists(st.sampled_from([b"\n", b"\n\n", b"\r", b"\r\n", b"x", b"chatter of a line", b"\xff"]), max_size=40),
    st.integers(1, 5),
)
def test_rows_do_not_depend_on_the_sizes(parts: list[bytes], most: int) -> None:
    def rows(path: Path, sizes: Sizes = SIZES) -> list[tuple[int, int, str]]:
        frames = [chunk.rows(np.arange(len(chunk))) for chunk, _ in lines.batches(path, sizes=sizes)]
        return [row for frame in frames for row in frame.select("line", "offset", "text").iter_rows()]

    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(b"".join(parts))
        assert rows(Path(file.name), Sizes(rows=most, cache=16)) == rows(Path(file.name))


@given(
    parts=st.lists(st.sampled_from([b"\n", b"\r", b"a", b"bcd" * 9, b"e" * 70]), max_size=60),
    chunk=st.integers(20, 90),
)
def test_every_byte_of_a_file_is_in_one_batch(parts: list[bytes], chunk: int) -> None:
    """For any length of lines; batches end with a line, or else a refresh, or else anywhere."""
    data = b"".join(parts)
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(data)
        found = list(lines._read_lines(file.fileno(), 0, 0, Sizes(batch=chunk, cache=16)))

    assert b"".join(part + b"\n" * fed for part, fed, _ in found) == data
    assert all(fed or part.endswith(b"\r") or b"\r" not in part for part, fed, _ in found[:-1])
    assert all(read is None or read % chunk == 0 for _, _, read in found)


ESCAPES = "\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])"


def by_hand(data: bytes) -> list[tuple[int, int, str]]:
    """number, offset and text of each state of each line."""
    rows, offset = [], 0
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else [], 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            text = line.decode("latin-1")
        text = re.sub(ESCAPES, "", text.removeprefix("\ufeff") if number == 1 else text).replace("\0", "")
        rows += [(number, offset, state) for state in re.split("[\r\b]", text) if state] or [(number, offset, "")]
        offset += len(line) + 1
    return rows


PARTS = [
    b"\n", b"\r", b"\r\r", b"\r\n", b"\b\b", b"\0", b"x", b" 40%|\xe2\x96\x88  |", b"\xff", b"\x1b[1;31m",
    b"\x1b]0;title\x07", b"\x1b[2K\r", b"\x1b", b"\x1b(B",
]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=40), st.booleans())
def test_states_of_lines_equal_those_found_line_by_line(parts: list[bytes], marked: bool) -> None:
    data = b"\xef\xbb\xbf" * marked + b"".join(parts)
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        chunks = [chunk for chunk, _ in lines.batches(Path(file.name), sizes=Sizes(cache=16))]
    for chunk in chunks:
        assert [chunk.data[a : b - 1].decode() for a, b in pairwise(chunk.starts.tolist())] == chunk.texts.to_list()
        assert chunk.starts[-1] == len(chunk.data) + 1
    frames = [chunk.rows(np.arange(len(chunk))).select("line", "offset", "text") for chunk in chunks]
    assert [row for frame in frames for row in frame.iter_rows()] == by_hand(data)
