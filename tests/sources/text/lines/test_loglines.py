"""Lines taken from the bytes of a log all at once equal those read line by line."""

import re
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines import loglines as lines
from loganalyst.sources.text.sizes import SIZES, Sizes


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
