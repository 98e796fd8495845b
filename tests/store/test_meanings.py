"""Each table and column of a store has a meaning."""

import pytest

from loganalyst.store import meanings
from loganalyst.store.columns import ALL_TABLES, schema


def test_all_tables_have_a_meaning() -> None:
    assert list(meanings.TABLES) == list(ALL_TABLES)


@pytest.mark.parametrize("table", ALL_TABLES)
def test_all_columns_have_a_meaning(table: str) -> None:
    found = meanings.columns(table)

    assert [column.column for column in found] == schema(table).names()
    assert all(column.meaning for column in found)


def test_types_and_units() -> None:
    columns = {column.column: column for column in meanings.columns("jobs")}

    assert columns["elapsed_s"] == ("elapsed_s", "Float64", "s", "wall time it ran")
    assert (columns["started"].dtype, columns["started"].unit) == ("Datetime", "UTC")


def test_an_unknown_table() -> None:
    with pytest.raises(KeyError):
        meanings.columns("no_such_table")
