"""One file of a run: its batches, its facts, and the place of its rows."""

from collections.abc import Generator, Iterator
from datetime import UTC, datetime

import polars as pl
import pytest

from loganalyst.model import Tables, table
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.files.rowspool import Spool
from loganalyst.sources.filetables import Earlier, Gathering, Place, changed, place_rows, placed, unplace_rows

TIMES = [datetime(2024, 5, 1, hour, tzinfo=UTC) for hour in (3, 1)]


def points(values: list[float], session: int = 0) -> Tables:
    steps = list(range(len(values)))
    return Tables(
        points=table("points", {"metric": ["loss"] * len(values), "step": steps, "value": values, "session": session})
    )


def test_facts_of_a_file() -> None:
    rows = Gathering(Spool())
    rows.take([points([0.5, 0.25]), points([0.1], session=2)])
    timed = table("points", {"metric": ["a", "a"], "value": [1.0, 2.0], "session": 0, "time": TIMES})
    rows.take([Tables(points=timed)])
    part = rows.part("a.csv", "csv", 100)

    assert (part.facts.rows, part.facts.points, part.facts.last_session) == (5, 5, 2)
    assert (part.facts.first, part.facts.last) == (TIMES[1], TIMES[0])
    assert not part.facts.single  # 0.1 has no exact 32-bit form
    assert (part.height("points"), part.height("config"), rows.some) == (5, 0, True)
    assert [frame.height for frame in part.frames("points")] == [2, 1, 2]


@pytest.mark.parametrize("again", [False, True])
def test_a_file_that_grew_keeps_its_earlier_rows(again: bool) -> None:
    """Unless its reader must start again."""
    asked: list[Mark | None] = []

    def reading(mark: Mark | None) -> Generator[Tables, None, Mark]:
        asked.append(mark)
        yield points([2.0])
        if again and mark:
            raise StartAgainError
        return Mark(20, {}, {})

    def kept() -> Iterator[Tables]:
        yield points([1.0])

    rows, mark = Gathering(Spool()), Mark(10, {}, {})
    found = rows.read(reading, Earlier("csv", mark, kept))
    values = [value for frame in rows.part("a", "csv", 1).frames("points") for value in frame["value"]]

    assert found == Mark(20, {}, {})
    assert asked == ([mark, None] if again else [mark])
    assert values == ([2.0] if again else [1.0, 2.0])


def test_gaps_alone_are_no_rows() -> None:
    rows = Gathering(Spool())
    rows.take([Tables(gaps=table("gaps", {"file": ["a"], "why": ["x"]}))])

    assert not rows.some


def test_rows_are_placed_and_taken_back() -> None:
    rows = table("points", {"metric": ["loss"], "value": [0.5], "session": pl.Series([None], dtype=pl.Int32)})
    place = Place(shift=2, prefix="val/")
    found = place_rows("points", rows, "logs/a.csv", place)

    assert found.select("session", "metric", "source").row(0) == (2, "val/loss", "logs/a.csv")
    assert unplace_rows("points", found, place).select("session", "metric").row(0) == (0, "loss")
    assert place_rows("config", table("config", {"key": ["lr"]}), "a.yaml", place)["origin"].to_list() == ["a.yaml"]


def test_all_tables_are_placed() -> None:
    found = placed(Tables(gaps=table("gaps", {"file": ["x"], "why": ["y"]})), "logs/a.csv", Place())

    assert found.gaps["file"].to_list() == ["logs/a.csv"]


def test_changed_leaves_the_frame_as_it_was() -> None:
    rows = pl.DataFrame({"a": [1], "b": [2]})

    assert changed(rows, [pl.Series("b", [3])]).rows() == [(1, 3)]
    assert rows.rows() == [(1, 2)]
