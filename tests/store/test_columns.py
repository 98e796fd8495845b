"""The columns of the store's tables."""

import polars as pl
import pytest

from loganalyst.features import declared
from loganalyst.model import SCHEMAS
from loganalyst.store.columns import ALL_TABLES, KEPT, schema


@pytest.mark.parametrize("name", ALL_TABLES)
def test_every_table_begins_with_the_run(name: str) -> None:
    assert next(iter(schema(name).items())) == ("run_id", pl.String())


def test_tables_of_a_run_and_features_keep_their_columns() -> None:
    assert schema("points").names() == ["run_id", *SCHEMAS["points"].names()]
    assert schema("features").names() == ["run_id", *declared()]
    assert schema("features")["train_loss_nonfinite_step"] == pl.Int64()


@pytest.mark.parametrize(("name", "columns"), KEPT.items())
def test_kept_tables_have_the_columns_that_identify_a_row(name: str, columns: list[str]) -> None:
    assert set(columns) <= set(schema(name).names())
