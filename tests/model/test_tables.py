"""Empty and partial tables."""

import polars as pl
import pytest

from loganalyst.model import SCHEMAS, Tables, constant, table


def test_missing_columns_are_null_and_scalars_fill_all_rows() -> None:
    """Values get the type of the schema."""
    found = table("points", {"metric": "loss", "step": [1, 2], "value": [0.5, 1]})

    assert found.schema == SCHEMAS["points"]
    assert found.select("metric", "step", "value", "epoch").rows() == [("loss", 1, 0.5, None), ("loss", 2, 1.0, None)]


def test_a_table_without_values_is_empty() -> None:
    """Also where one of the columns is."""
    assert table("points").shape == table("points", {"metric": "loss", "step": []}).shape == (0, 8)


def test_an_unknown_column_is_refused() -> None:
    """The message names the columns of the table."""
    with pytest.raises(
        KeyError, match=r"table 'gaps' has no column \['wy'\]; it has \['file', 'offset', 'bytes', 'why'\]"
    ):
        table("gaps", {"wy": "x"})


@pytest.mark.parametrize("rows", [1, 5, (1 << 17) + 1])
def test_a_constant_column(rows: int) -> None:
    """Of any length."""
    found = constant("a", rows, pl.String)

    assert (found.len(), found.n_unique(), found[rows - 1]) == (rows, 1, "a")


def test_batches_are_concatenated() -> None:
    """Table by table."""
    batches = [Tables(gaps=table("gaps", {"file": name, "why": "cut"})) for name in ("a", "b")]

    found = Tables.concat(batches)

    assert found.gaps["file"].to_list() == ["a", "b"]
    assert found.points.height == 0
