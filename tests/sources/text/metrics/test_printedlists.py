"""Tables whose cells are lists of numbers."""

import polars as pl

from loganalyst.sources.text.metrics.printedlists import lists


def read(text: str) -> list[tuple[int, str, str, float]]:
    lines = pl.DataFrame({"text": text.split("\n")}).with_row_index("row")
    return lists(lines).select("row", "role", "name", "value").rows()


def test_the_numbers_of_a_list_have_their_place_in_their_names() -> None:
    table = "Step      Train loss     Test metric\n0         [2.5e+00, nan]    [1.5]\n100       [0.5, 0.25]    []"

    assert str(read(table)) == str([
        (1, "step", "", 0.0), (1, "metric", "Train loss/1", 2.5), (1, "metric", "Train loss/2", float("nan")),
        (1, "metric", "Test metric", 1.5),
        (2, "step", "", 100.0), (2, "metric", "Train loss/1", 0.5), (2, "metric", "Train loss/2", 0.25),
    ])  # fmt: skip


def test_rows_that_do_not_fit_the_header_have_no_values() -> None:
    assert read("Step  Train loss  Test loss\n3   [0.5]") == [(1, "step", "", 3.0)]
    assert read("3   [0.5]   [0.25]") == []
    assert read("Step  Train loss  Test loss\nshape [3] [4]") == []
