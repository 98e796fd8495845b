"""A log that grows, read on from its mark, gives the tables of one reading, wherever it was cut."""

import json
from functools import lru_cache
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.text import reader
from loganalyst.sources.text.sizes import Sizes

pytestmark = pytest.mark.takes_long

CORPUS = Path(__file__).parents[3] / "../shared/corpus/text"
TABLES = ("points", "lines", "blocks", "config", "gaps", "sessions")
BAR = "{:3}%|###   | {}/20 [00:{:02}<00:20,  3.1it/s, loss={:.3f}]"


def reading(path: Path, sizes: Sizes, mark: Mark | None = None) -> tuple[Tables, Mark | None]:
    """Everything behind the mark, and the next mark (through JSON, as it is stored)."""
    batches, going = [], reader.resume(path, mark, sizes)
    while True:
        try:
            batches.append(next(going))
        except StopIteration as end:
            found = end.value
            break
    return Tables.concat(batches), found and Mark(found.offset, found.kept, json.loads(json.dumps(found.state)))


def resumed(path: Path, data: bytes, cuts: list[int], sizes: Sizes) -> Tables:
    """The tables of a reader that saw the file at each of the cuts, and then whole."""
    kept, mark = Tables(), None
    for cut in [*cuts, len(data)]:
        path.write_bytes(data[:cut])
        try:
            new, after = reading(path, sizes, mark)
        except StartAgainError:
            kept, mark = Tables(), None
            new, after = reading(path, sizes)
        frames = {}
        for name in TABLES:
            old = getattr(kept, name).head(mark.kept.get(name, 0) if mark else 0)
            frames[name] = pl.concat([old, getattr(new, name)])
        kept, mark = Tables(**frames), after
    return kept


def same(path: Path, data: bytes, cuts: list[int], sizes: Sizes) -> None:
    """Asserts that reading in parts and at once agree, row for row."""
    found = resumed(path, data, cuts, sizes)
    whole = at_once(path, data, sizes)
    for name in TABLES:
        assert getattr(whole, name).equals(getattr(found, name)), name


@lru_cache(1)
def at_once(path: Path, data: bytes, sizes: Sizes) -> Tables:
    """The tables of one reading."""
    path.write_bytes(data)
    return reading(path, sizes)[0]


def lines(kind: str, n: int) -> list[str]:
    """A log of one habit."""
    return {
        "steps": [f"2024-05-01 10:{i // 60:02}:{i % 60:02} step {i} loss {1 / (i + 1):.4f} lr 1e-3" for i in range(n)],
        "epochs": [f"Epoch {i // 10}: {i % 10 * 25}/250 loss={i}.5" for i in range(n)],
        "bars": ["\r".join(BAR.format(i * 5 % 100, i % 20, i, 1 / (i + k)) for k in (1, 2, 3)) for i in range(n)],
        "drawn": [
            f"\r 1%|#  | {10 * i - 1}/400 [00:01<00:20, 3.1it/s]\r   \r{{'loss': {i}.5, 'epoch': {round(i / 10, 2)}}}"
            for i in range(1, n)
        ],
        "index": [f"loss: {i}.25" for i in range(n)],
        "counted": [f"{10 * i}: loss={i}.5" for i in range(1, n)],
        "followed": [x for i in range(1, n // 2) for x in (f"Epoch {i} | loss {i}.5", f"Val. Loss: {i}.25")],
        "faults": [
            x
            for i in range(n // 6)
            for x in ("Namespace(lr=0.1)", f"step {i} loss 0.5", "Traceback (most recent call last):",
                      '  File "a.py", line 1, in f', "ValueError: boom", f"SLURM_JOB_ID={i // 3}")
        ],
    }[kind]  # fmt: skip


KINDS = ("steps", "epochs", "bars", "drawn", "index", "counted", "followed", "faults")


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut(tmp_path: Path, kind: str) -> None:
    """Each kind of log can be cut anywhere, also within a line."""
    data = "\n".join(lines(kind, 24)).encode() + b"\n"
    for cut in range(1, len(data), len(data) // 6):
        same(tmp_path / "a.log", data, [cut], Sizes(batch=300))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(st.tuples(st.sampled_from(KINDS), st.integers(3, 20)), min_size=1, max_size=4),
    cuts=st.lists(st.floats(0, 1), max_size=3),
    chunk=st.integers(300, 900),
    block=st.integers(5, 50),
)
def test_any_log(tmp_path: Path, parts: list[tuple[str, int]], cuts: list[float], chunk: int, block: int) -> None:
    """A log of several kinds, read at several times, equals the log read at once."""
    data = "\n".join(line for kind, n in parts for line in lines(kind, n)).encode()
    places = sorted(int(cut * len(data)) for cut in cuts)
    same(tmp_path / "a.log", data, places, Sizes(batch=chunk, block=block))


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of real logs is not here")
def test_real_logs(tmp_path: Path) -> None:
    """Real logs, cut in three."""
    for path in sorted(CORPUS.rglob("*.out"))[:4] + sorted(CORPUS.rglob("*.log"))[:4]:
        data = path.read_bytes()[:30_000]
        same(tmp_path / path.name, data, [len(data) // 3, len(data) * 2 // 3], Sizes(batch=6000))


def test_only_appended_lines_are_read(tmp_path: Path) -> None:
    """Only the lines behind the mark are read; earlier points are kept."""
    sizes = Sizes(batch=1000)
    path, all_lines = tmp_path / "a.log", lines("steps", 400)
    path.write_text("\n".join(all_lines[:300]) + "\n")
    _, mark = reading(path, sizes)
    path.write_text("\n".join(all_lines) + "\n")
    new, _ = reading(path, sizes, mark)

    assert mark is not None
    assert mark.kept["points"] > 500
    assert new.points.height == 800 - mark.kept["points"]


def test_a_shorter_file(tmp_path: Path) -> None:
    """A file that shrank must be read from its beginning."""
    path = tmp_path / "a.log"
    path.write_text("x y z\n" * 100)
    _, mark = reading(path, Sizes(batch=100))
    path.write_text("x y z\n")

    with pytest.raises(StartAgainError):
        reading(path, Sizes(batch=100), mark)


def test_a_state_of_another_form_is_read_again(tmp_path: Path) -> None:
    """A store that another version wrote: the file is read from its beginning."""
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {k} loss: {2 / k:.3f}\n" for k in range(1, 400)))
    mark = reading(path, Sizes(batch=1000))[1]
    assert mark is not None
    old = Mark(mark.offset, mark.kept, {**mark.state, "steps": {"carry": [1]}})

    with pytest.raises(StartAgainError, match="a state of another form"):
        reading(path, Sizes(batch=1000), old)
