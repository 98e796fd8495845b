"""Lists of numbers as curves or rows."""

from pathlib import Path

from loganalyst.model import Tables
from loganalyst.sources.tables import numberrows

FILE = Path("loss.json")


def rows(data: object) -> list[tuple[object, ...]]:
    found = Tables.concat(numberrows.tables(FILE, numberrows.lists(data), "[…]"))
    return found.points.select("metric", "step", "value").rows()


def test_one_list_is_a_curve():
    """An entry without a value keeps its place."""
    assert rows([2.5, None, 1.5]) == [("loss", 0, 2.5), ("loss", 2, 1.5)]


def test_pairs_have_a_step_if_it_counts():
    assert rows([[10, 2.5], [20, 2.0]]) == [("loss", 10, 2.5), ("loss", 20, 2.0)]
    assert rows([[2.5, 2.6], [2.0, 2.1]]) == [
        ("column_1", 0, 2.5), ("column_1", 1, 2.0), ("column_2", 0, 2.6), ("column_2", 1, 2.1),
    ]  # fmt: skip


def test_a_few_long_lists_are_curves():
    """So are lists of different lengths."""
    assert {row[0] for row in rows([[0.5] * 12, [0.25] * 12])} == {"list_1", "list_2"}
    assert rows([[0.5, 0.25, 0.125], [7.5]])[-1] == ("list_2", 0, 7.5)


def test_tensorboards_download_has_times():
    found = Tables.concat(numberrows.tables(FILE, numberrows.lists([[1.7e9, 5, 2.5], [1.7e9 + 1, 6, 2.0]]), ""))

    assert found.points.select("metric", "step", "value").rows() == [("loss", 5, 2.5), ("loss", 6, 2.0)]
    assert [time.timestamp() for time in found.points["time"]] == [1.7e9, 1.7e9 + 1]


def test_other_values_are_no_lists():
    assert [numberrows.lists(data) for data in ({}, [], [1, 2], ["a", 1, 2], [True, False, True], [[], [1, 2, 3]])] == [
        []
    ] * 6
