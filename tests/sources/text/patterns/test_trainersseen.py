"""Texts that show the trainer: each is noted once, with the first line that has it, over batches and readings."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.sources.text import reader
from loganalyst.sources.text.patterns import literals
from loganalyst.sources.text.sizes import Sizes

GREETING = "[LightGBM] [Info] Number of positive: 2, number of negative: 3\n"
SMALL = Sizes(batch=400)


def shown(log: Path, sizes: Sizes) -> list[tuple[int, str, str]]:
    lines = pl.concat([tables.lines for tables in reader.read(log, sizes)]).filter(pattern="trainer-line")
    return [(n, c, t[:20]) for n, c, t in lines.select("line", "captures", "text").iter_rows()]


@pytest.mark.parametrize("hyperscan", [True, False])
def test_each_text_is_noted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hyperscan: bool) -> None:
    if not hyperscan:
        monkeypatch.setattr(literals, "_scanner", lambda *_: None)
    log = tmp_path / "x.log"
    log.write_text("hello\n" + GREETING * 100 + "bestTest = 3\n")

    assert shown(log, SMALL) == [
        (2, '{"witness": "[LightGBM] ["}', "[LightGBM] [Info] Nu"),
        (102, '{"witness": "bestTest = "}', "bestTest = 3"),
    ]


def test_a_later_reading_keeps_what_was_seen(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(GREETING + "line of a log\n" * 200)
    rows = reader.resume(log, None, SMALL)
    while True:
        try:
            next(rows)
        except StopIteration as end:
            mark = end.value
            break
    with log.open("a") as file:
        file.write("line of a log\n" * 200)
    again = pl.concat([tables.lines for tables in reader.resume(log, mark, SMALL)]).filter(pattern="trainer-line")

    assert mark.offset > 0
    assert again["line"].to_list() == [1]
