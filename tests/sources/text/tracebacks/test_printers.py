"""The rows of each process."""

import polars as pl

from loganalyst.sources.text.tracebacks.printers import Printer, by_printer


def test_rows_are_sorted_by_their_prefix() -> None:
    """Each printer has the positions of its rows, in file order."""
    rows = pl.DataFrame({"prefix": ["1: ", "0: ", "1: "], "body": ["a", "b", "c"]})

    assert by_printer(rows) == [Printer("0: ", [1], ["b"]), Printer("1: ", [0, 2], ["a", "c"])]
    assert by_printer(rows[1:2]) == [Printer("0: ", [0], ["b"])]
