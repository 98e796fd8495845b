from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.lines import loglines as textlines
from loganalyst.sources.text.lines import prefixes
from loganalyst.sources.text.patterns import matchedlines as hits
from loganalyst.sources.text.sizes import SIZES, Sizes

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def read(path: Path, data: str | bytes, sizes: Sizes = SIZES) -> Tables:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return Tables.concat(reader.read(path, sizes))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "slurm-4711.out"


def test_tables_follow_the_schemas(log: Path) -> None:
    """Every table comes in the schema of its name."""
    tables = read(log, f"Namespace(lr=0.1)\nstep 1 loss 0.5\nstep 2 loss 0.4\n{OOM}\n")

    for name, frame in vars(tables).items():
        assert SCHEMAS[name] == frame.schema, name


def test_a_matched_line(log: Path) -> None:
    """File, line, offset, time, rank, pattern, label, part, captures and text of a hit are as written."""
    data = f"first\n[rank3]: 2024-05-01 10:00:02,250 {OOM}\n"
    row = read(log, data).lines.row(0, named=True)

    assert (row["file"], row["line"], row["offset"], row["rank"]) == ("slurm-4711.out", 2, 6, 3)
    assert datetime(2024, 5, 1, 10, 0, 2, 250_000, tzinfo=UTC) == row["time"]
    assert (row["pattern"], row["label"], row["part"]) == ("cuda-oom", "cuda_oom", "root")
    assert '"tried":"2.00"' in row["captures"]
    assert data.split("\n")[1] == row["text"]


@pytest.mark.parametrize(
    ("prefix", "rank", "node"),
    [
        ("3: ", 3, None),
        ("[rank7]: ", 7, None),
        ("[rank: 2] ", 2, None),
        ("[default5]:", 5, None),
        ("0: [rank4]: ", 4, None),
        ("node017: ", None, "node017"),
        ("(Worker pid=77, ip=10.0.0.4) ", None, "10.0.0.4"),
        ("", None, None),
    ],
)
def test_prefixes(log: Path, prefix: str, rank: int | None, node: str | None) -> None:
    """Rank and node come from the prefixes launchers put before a line."""
    row = read(log, f"{prefix}{OOM}\n").lines.row(0, named=True)

    assert (rank, node) == (row["rank"], row["node"])


@pytest.mark.parametrize("line", ["loss1: 0.5", "epoch3: done", "top5: 77.1", "slurmstepd-n1: error: x", "v2.Net: x"])
def test_names_that_are_no_node(log: Path, line: str) -> None:
    """A metric, a counter or a daemon's name before a colon is no node."""
    log.write_text(line)
    ((chunk, _),) = textlines.batches(log)

    assert prefixes.described(chunk.texts).select("prefix", "node").rows() == [("", None)]


def test_node_and_rank_named_in_the_line(log: Path) -> None:
    """Names in the line itself go before its prefix."""
    row = read(log, "0: srun: error: n7: task 12: Out Of Memory\n").lines.row(0, named=True)

    assert (row["rank"], row["node"], row["label"]) == (12, "n7", "host_oom")


def test_bars_colours_and_nul(log: Path) -> None:
    """A fault glued behind CR bars, colours and NUL bytes is found; the line number counts LF only."""
    data = b"a\r\n" + b"\x00" * 50 + b"\r 10%|#\r 20%|##\r\x1b[31m" + OOM.encode() + b"\x1b[0m\nend\n"
    row = read(log, data).lines.row(0, named=True)

    assert (row["line"], row["text"]) == (2, OOM)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16"])
def test_encodings(log: Path, encoding: str) -> None:
    """A byte order mark, Latin-1 and UTF-16 are read as text."""
    row = read(log, f"Übung\né {OOM}\n".encode(encoding)).lines.row(0, named=True)

    assert (2, f"é {OOM}") == (row["line"], row["text"])


def test_one_enormous_line(log: Path) -> None:
    """A line longer than a batch comes in pieces with its number, cut between refreshes; later lines are found."""
    bars = "".join(f"\r {i}%|{'#' * 90}" for i in range(100))
    tables = read(log, f"start{bars}\r{OOM}\n" + "x" * 5000 + f"\n{OOM}\n", Sizes(batch=1000))

    assert tables.lines["line"].to_list() == [1, 3]
    assert tables.lines["text"].str.len_chars().max() <= hits.MAX_LINE_CHARS


def test_a_long_line_is_cut(log: Path) -> None:
    """The text kept of a line has at most MAX_LINE_CHARS characters."""
    assert read(log, OOM + "x" * 10_000 + "\n").lines["text"].str.len_chars().to_list() == [hits.MAX_LINE_CHARS]


def test_traceback_across_batches(log: Path) -> None:
    """A traceback that a batch boundary cuts is still one block with its frame."""
    frames = "".join(f'  File "/home/me/a{i}.py", line {i}, in f\n    call()\n' for i in range(20))
    tables = read(log, f"begin\nTraceback (most recent call last):\n{frames}ValueError: boom\nend\n", Sizes(batch=64))
    row = tables.lines.filter(pl.col("label") == "code_exception").row(0, named=True)

    assert (row["line"], row["pattern"], row["block"]) == (43, "python-exception", 1)
    assert '"frame":"/home/me/a19.py:19 in f"' in row["captures"]


def test_empty_file(log: Path) -> None:
    """An empty log is one session with unknown status."""
    tables = read(log, b"")

    assert tables.lines.height + tables.points.height == 0
    assert tables.sessions.select("session", "first_line", "last_line", "status", "job").rows() == [
        (0, 1, 1, "unknown", "4711")
    ]


def test_repeated_matches_are_bounded(log: Path) -> None:
    """Both ends of a line repeated without end are listed, and a gap counts the others."""
    tables = read(log, "loss: nan\n" * 1000)

    assert tables.lines.height == 2 * hits.MAX_MATCHES_PER_END
    assert (tables.lines["line"].min(), tables.lines["line"].max()) == (1, 1000)
    assert tables.gaps["why"].to_list() == ["800 more lines like 'loss: nan' not listed"]


def test_arguments(log: Path) -> None:
    """A printed Namespace and SLURM's environment become config rows, numbers as numbers."""
    config = read(log, "args: Namespace(lr=0.1, name='x y', layers=[1, 2])\nSLURM_NNODES=4\nNamespace(lr=").config

    assert (config.select("key", "value", "number").rows()) == [
        ("lr", "0.1", 0.1),
        ("name", "x y", None),
        ("layers", "[1, 2]", None),
        ("SLURM_NNODES", "4", 4.0),
    ]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400), st.sampled_from(["a.log", "slurm-1.out", "x.txt", "y"]))
def test_no_bytes_raise(tmp_path: Path, data: bytes, name: str) -> None:
    """Any file is read and sniffed without an exception."""
    assert 0 <= reader.sniff(Path(name), data) <= 1
    tables = read(tmp_path / name, data)
    assert tables.sessions.height >= 1


WORDS = st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=30)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(WORDS, st.just(OOM)), min_size=1, max_size=30), st.integers(128, 400))
def test_line_numbers_and_offsets(tmp_path: Path, lines: list[str], chunk: int) -> None:
    """The place of a hit does not depend on how the file is cut into batches."""
    data = "\n".join(lines).encode()
    found = read(tmp_path / "a.log", data, Sizes(batch=chunk)).lines
    hits = found.filter(pl.col("text") == OOM, pl.col("pattern") == "cuda-oom")

    at = [i for i, line in enumerate(lines, 1) if line == OOM]
    assert at == hits["line"].to_list()
    assert [len("\n".join(lines[: i - 1]).encode()) + (i > 1) for i in at] == hits["offset"].to_list()


PIECES = [
    "[rank3]: ", "[default0]:", "0: ", "n17: ", "[n1:4711] ", "(W pid=7, ip=10.0.0.4) ", "2024-05-01 10:00:02,250 ",
    "[2024-13-01T25:00:00.5] ", "05/01/2024 10:00:02 ", "loss: 0.5", "loss=nan", " step 3/10", "Epoch 1: ",
    " 37%|##  |", "\r", "\n", "\r\n", "\x1b[31m", "\x1b]0;", "\x00", "\x08", "| loss | 0.5 |", "--------", "\t",
    "é", "█", "\ufeff", OOM, "Traceback (most recent call last):",
    '  File "a.py", line 1, in f', "ValueError: x", ">>> 1", "Namespace(a=1)",
    "SLURM_JOB_ID=7", "Epoch  box_loss  cls_loss", "  1  0.5  0.4", "1e999", "9" * 30,
]  # fmt: skip


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(PIECES), max_size=60),
    st.sampled_from(["utf-8", "latin-1", "utf-16", "utf-16-be"]),
    st.integers(20, 500),
    st.binary(max_size=5),
)
def test_no_log_raises(tmp_path: Path, pieces: list[str], encoding: str, chunk: int, junk: bytes) -> None:
    """Prefixes, times, bars, tables and tracebacks in any order, cut anywhere, in any encoding, are read."""
    data = "".join(pieces).encode(encoding, "replace")
    tables = read(tmp_path / "a.log", data + junk + data, Sizes(batch=chunk))

    assert tables.sessions.height >= 1
    assert tables.points["metric"].null_count() == 0


def test_a_bar_without_a_line_end(log: Path) -> None:
    """A bar of refreshes that never ends its line is read in bounded pieces, all of one line."""
    data = "".join(f"\r{i:3}%|##| {i}/5000 [00:10<00:20, 3.1it/s, loss={i}.5]" for i in range(5000))
    tables = read(log, data, Sizes(batch=1 << 16))

    assert tables.points["step"].to_list() == list(range(5000))
    assert tables.points["line"].unique().to_list() == [1]


def test_numbers_wait_in_a_file(log: Path) -> None:
    """Numbers that need too much memory wait in a temporary file until the log ends."""
    data = "".join(f"Epoch {i // 100}: {i % 100}/100 loss={i}.5 acc={i}\n" for i in range(3000))
    whole = read(log, data).points

    assert read(log, data, Sizes(batch=3000, block=500, waiting=5000)).points.equals(whole)


def test_batches_and_blocks_are_bounded(log: Path) -> None:
    """Only few rows and numbers are handled at once; the points are the same."""
    data = "".join(f"step {i} loss={i}.5 acc={i}\n" for i in range(3000)) + "\n" * 2000
    whole = read(log, data).points
    sizes = Sizes(rows=700, block=100)
    heights = [tables.points.height for tables in reader.read(log, sizes)]

    assert max(len(chunk) for chunk, _ in textlines.batches(log, sizes=sizes)) == 700
    assert max(heights) <= 102
    assert read(log, data, sizes).points.equals(whole)


def test_a_damaged_stamp_costs_its_line_only(tmp_path):
    """The other lines keep their times, although the damaged line is the longest of its kind."""
    lines = [f"2026-03-01 10:{i:02}:00,123 INFO train: step={i} loss={i}.5\n" for i in range(30)]
    lines[7] = "2026-03-01 1-01 10:07:00,123 INFO train: step=7 loss=7.55555555555\n"
    points = read(tmp_path / "a.log", "".join(lines)).points

    assert points["time"].is_null().arg_true().to_list() == [7]
    assert points["time"][29] == datetime(2026, 3, 1, 10, 29, 0, 123_000, tzinfo=UTC)
