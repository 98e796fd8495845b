"""Lines, times and kinds of a log, taken from its bytes all at once, are what one gets line by line."""

import re
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines import loglines as lines
from loganalyst.sources.text.lines import prefixes, stamps
from loganalyst.sources.text.lines.linekinds import Kinds, kind_hashes
from loganalyst.sources.text.lines.loglines import chunk_of
from loganalyst.sources.text.sizes import SIZES, Sizes


@given(st.text(st.characters(codec="utf-8")))
def test_lines_end_at_lf_however_many_bytes_there_are(text: str) -> None:
    assert lines.split(text.encode(), polars_from=1).to_list() == text.split("\n")


STAMPS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(
        ["2024-05-01 10:00", "2024-05-01T10:00", "2024/05/01 23:59", "2024-13-01 10:00", "20x4-05-01 10:00"]
    ),
    st.sampled_from([":", ".", ""]),
    st.sampled_from(["00", "07", "59", "5", "x1", "1x"]),
    st.sampled_from(["", ",", ".", " "]),
    st.sampled_from(["", "1", "12", "123", "1234", "123456", "1234567", "12x", " 123"]),
)


@given(st.lists(STAMPS, min_size=1, max_size=20))
def test_stamps_at_known_places_are_those_found_by_search(written: list[str]) -> None:
    starts = np.cumsum([0, *(len(text) + 1 for text in written[:-1])])
    found = stamps.fixed("\n".join(written).encode(), starts)
    assert [str(t) for t in found] == [str(t) for t in stamps.times(pl.Series(written))]


@pytest.mark.parametrize(
    "collector",
    [
        "2024-03-01T10:00:07.123456789Z ",
        "2024-03-01T10:00:07.123456789Z stderr F ",
        "2019-06-02T16:13:44.884Z: ",
        "[2024-03-01 10:00:07] ",
        "Mar  1 10:00:07 ",
        "[pod/train-worker-1/pytorch] ",
        "trainer-1  | ",
    ],
)
@pytest.mark.parametrize(
    ("mark", "rank"), [("[rank3]: ", 3), ("[default0]: ", 0), ("[1,12]<stderr>:", 12), ("(T pid=7, ip=10.0.0.2)", None)]
)  # fmt: skip
def test_a_collector_hides_no_rank(collector: str, mark: str, rank: int | None) -> None:
    """The prefix is the rank's mark alone: lines of one rank are found by it."""
    found = prefixes.described(pl.Series([f"{collector}{mark}  boom", f"{collector}boom"]))

    assert found["prefix"].to_list() == [mark.strip(), ""]
    assert found["body"].str.strip_chars_start().to_list() == ["boom", f"{collector}boom"]
    assert found["rank"].to_list() == [rank, None]


def test_slurm_sets_the_numbers_of_ten_tasks_and_more_flush() -> None:
    """As `srun --label` with 12 tasks does."""
    found = prefixes.described(pl.Series([" 3: boom", "11:   boom"]))

    assert found.select("body", "rank").rows() == [("boom", 3), ("  boom", 11)]


def test_kinds_whose_hashes_begin_alike_are_told_apart() -> None:
    kinds = Kinds()
    hashes = np.array([3 << 16 | 7, 1 << 16 | 7, 2 << 16 | 7], np.uint64)
    chunk = chunk_of(b"loss 1\nchatter\nepoch 3", np.arange(1, 4))
    kinds._add(chunk, hashes, np.repeat(np.arange(3), 3).reshape(3, 3))
    assert kinds._find(np.array([2 << 16 | 7, 3 << 16 | 7, 9 << 16 | 7, 1 << 16 | 7, 5], np.uint64)).tolist() == [
        2, 0, -1, 1, -1,
    ]  # fmt: skip


def test_what_is_told_of_a_kind_is_not_told_of_rare_lines() -> None:
    many = b"\n".join([b"step 3 loss: 0.5"] * 5 + [b"| loss | 3 |"] + [b"chatter"] * 5)
    look = Kinds().look(chunk_of(many, np.arange(1, 12)), kind_hashes(many))
    assert look.flags["busy"].tolist() == [True] * 5 + [False] * 6
    assert look.flags["table"].tolist() == [False] * 5 + [True] + [False] * 5


def test_a_damaged_line_at_either_end_does_not_tell_of_its_kind() -> None:
    lines = [f"2026-03-01 10:0{i}:00 INFO step={i} loss=0.5" for i in range(5)]
    lines[0], lines[3] = ":00:00 INFO step=0 loss=0.5", f"{lines[3]} .........."
    lines[4] = "2026-03-01 1\xb00:04:00 INFO step=4 loss=0.5 ............"
    data = "\n".join(lines).encode()
    look = Kinds().look(chunk_of(data, np.arange(1, 6)), kind_hashes(data))
    assert set(look.kind.tolist()) == {0}
    assert np.isnat(look.time).tolist() == [True, False, False, False, True]


def test_what_one_line_tells_of_its_kind_holds_for_its_batch() -> None:
    kinds, damaged = Kinds(), b":00:00 INFO step=0 loss=0.5"
    whole = b"\n".join(b"2026-03-01 10:0%d:00 INFO step=%d loss=0.5" % (i, i) for i in range(4))
    alone, after = (kinds.look(chunk_of(d, np.arange(1, 5)[:n]), kind_hashes(d)) for d, n in ((damaged, 1), (whole, 4)))
    assert np.isnat(alone.time).tolist() == [True]
    assert not np.isnat(after.time).any()


@given(st.lists(st.integers(1, 70), max_size=40), st.integers(0, 70))
def test_ends_of_lines_are_found_however_close_they_stand(lengths: list[int], rest: int) -> None:
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
def test_rows_are_the_same_however_many_are_taken_at_once(parts: list[bytes], most: int) -> None:
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
    """However long its lines are; batches end with a line, a refresh, or where there is neither."""
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
def test_states_of_lines_are_those_found_line_by_line(parts: list[bytes], marked: bool) -> None:
    data = b"\xef\xbb\xbf" * marked + b"".join(parts)
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        chunks = [chunk for chunk, _ in lines.batches(Path(file.name), sizes=Sizes(cache=16))]
    for chunk in chunks:
        assert [chunk.data[a : b - 1].decode() for a, b in pairwise(chunk.starts.tolist())] == chunk.texts.to_list()
        assert chunk.starts[-1] == len(chunk.data) + 1
    frames = [chunk.rows(np.arange(len(chunk))).select("line", "offset", "text") for chunk in chunks]
    assert [row for frame in frames for row in frame.iter_rows()] == by_hand(data)
