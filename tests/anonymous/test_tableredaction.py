"""What stays of each column of a table."""

import json

import polars as pl
import pytest

from loganalyst.anonymous.aliases import Names
from loganalyst.anonymous.tableredaction import COLUMNS, gap
from loganalyst.anonymous.tableredaction import anonymous as cleaned
from loganalyst.model import SCHEMAS
from loganalyst.model import table as table_of


def test_every_column_is_decided() -> None:
    """A new column of a table needs an entry."""
    tables = {name for name in SCHEMAS if name not in ("findings", "feature_sources", "config")}

    assert set(COLUMNS) == tables
    assert {name: list(COLUMNS[name]) for name in tables if set(COLUMNS[name]) != set(SCHEMAS[name])} == {}


@pytest.mark.parametrize(
    ("why", "kept"),
    [
        ("5,192 more lines like 'zqsecret' not listed", "more lines like"),
        ("the reader failed (ValueError: zqsecret)", "the reader failed"),
        ("zqsecret", "another reason"),
    ],
)
def test_gaps_keep_only_their_reason(why: str, kept: str) -> None:
    """Quoted text is left out."""
    assert gap(why) == kept


def test_captures_are_numbers_and_public_exceptions() -> None:
    """Known keys with numbers stay, and classes of public exceptions; words do not."""
    said = {"step": "12", "tried": "2.50 GiB", "rank": "zq7", "path": "/home/zq", "exception": "zq.errors.ZqError"}
    said |= {"total": "79.15 GiB; zqhost", "used": "1" * 40, "operation": "zqop", "bytes": "4096"}
    rows = pl.DataFrame({"captures": [json.dumps(said), "no JSON", "[1]", None]})
    kept = cleaned("lines", table_of("lines", {"captures": rows["captures"]}), Names())["captures"].to_list()

    assert json.loads(kept[0]) == {"step": "12", "tried": "2.50 GiB", "exception": "Error", "bytes": "4096"}
    assert kept[1:] == [None, None, None]
