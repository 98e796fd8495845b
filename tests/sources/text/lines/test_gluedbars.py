"""Progress bars that follow each other in one line without CR."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.lines import gluedbars

TQDM = " {p:3d}%|{bar:10}| {n}/10 [00:0{n}<00:09,  1.02it/s, loss={loss}]"
KERAS = "{n:2d}/89 ━━━━━━━━━━ 9s 106ms/step - loss: {loss}"


def points(folder: Path, log: str) -> pl.DataFrame:
    """Step and value of the losses of a log."""
    path = folder / "train.log"
    path.write_text(log, encoding="utf-8")
    return Tables.concat(reader.read(path)).points.filter(metric="loss").select("step", "value")


def test_bars_of_tqdm(tmp_path: Path) -> None:
    """Each bar is a row: its step and its loss are read, not those of the first bar alone."""
    line = "".join(TQDM.format(p=10 * n, bar="█" * n, n=n, loss=1 / n) for n in range(1, 9))

    assert points(tmp_path, f"{line}\n").rows() == [(n, pytest.approx(1 / n)) for n in range(1, 9)]


def test_bars_of_keras_behind_digits(tmp_path: Path) -> None:
    """`0.073189/89` is the value 0.0731 and the step 89 of 89."""
    epoch = KERAS.format(n=1, loss="0.7000") + KERAS.format(n=88, loss="0.0731") + KERAS.format(n=89, loss="0.0729")
    lines = "".join(f"Epoch {e}/3\n{epoch} - val_loss: 0.0{e}\n" for e in (1, 2, 3))

    assert points(tmp_path, lines).rows() == [(1, 0.0729), (2, 0.0729), (3, 0.0729)]


@pytest.mark.parametrize(
    "line",
    [
        TQDM.format(p=10, bar="█", n=1, loss=0.5) + 200 * "x",
        200 * "x" + " 50%|##",
        "\r".join(TQDM.format(p=10 * n, bar="█" * n, n=n, loss=0.5) for n in (1, 2, 3)),
        200 * "x",
    ],
)
def test_other_lines_stay(line: str) -> None:
    """One bar, bars that were redrawn, and long lines without a bar."""
    assert gluedbars.parted(f"{line}\n".encode()).rstrip(b"\n").replace(b"]\rx", b"]x") == line.encode()


def test_line_numbers_stay(tmp_path: Path) -> None:
    """The rows of a line that is split have its number."""
    line = "".join(TQDM.format(p=10 * n, bar="█" * n, n=n, loss=1 / n) for n in range(1, 9))
    path = tmp_path / "train.log"
    path.write_text(f"start\n{line}\nValueError: bad\n", encoding="utf-8")
    tables = Tables.concat(reader.read(path))

    assert tables.points["line"].unique().to_list() == [2]
    assert tables.lines.filter(part="root")["line"].to_list() in ([3], [])
