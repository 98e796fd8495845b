"""The treatment of each column."""

import json

import polars as pl
import pytest

from loganalyst.anonymous.aliases import Names
from loganalyst.anonymous.tableredaction import COLUMNS, gap
from loganalyst.anonymous.tableredaction import anonymous as cleaned
from loganalyst.model import SCHEMAS
from loganalyst.model import table as table_of


def test_every_column_has_a_treatment() -> None:
    """A new column of a table needs a treatment."""
    tables = {name for name in SCHEMAS if name not in ("findings", "feature_sources", "config")}

    assert set(COLUMNS) == tables
    assert {name: list(COLUMNS[name]) for name in tables if set(COLUMNS[name]) != set(SCHEMAS[name])} == {}


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("5,192 more lines like 'zqsecret' not listed", "more lines like"),
        ("the reader failed (ValueError: zqsecret)", "the reader failed"),
        ("zqsecret", "another reason"),
    ],
)
def test_gaps_keep_their_reason_alone(why: str, reason: str) -> None:
    """Quotations in a reason are left out."""
    assert gap(why) == reason


def test_captures_are_quantities_and_common_classes() -> None:
    """A capture stays if it is a quantity under a known key, or a common class of exceptions."""
    said = {"step": "12", "tried": "2.50 GiB", "rank": "zq7", "path": "/home/zq", "exception": "zq.errors.ZqError"}
    said |= {"total": "79.15 GiB; zqhost", "used": "1" * 40, "operation": "zqop", "bytes": "4096"}
    rows = pl.DataFrame({"captures": [json.dumps(said), "no JSON", "[1]", None]})
    kept = cleaned("lines", table_of("lines", {"captures": rows["captures"]}), Names())["captures"].to_list()

    assert json.loads(kept[0]) == {"step": "12", "tried": "2.50 GiB", "exception": "Error", "bytes": "4096"}
    assert kept[1:] == [None, None, None]


def test_texts_that_show_a_trainer_of_ours_are_kept() -> None:
    lines = table_of("lines", {
        "session": 0, "file": "a", "line": [1, 2], "pattern": "trainer-line",
        "captures": ['{"witness": "[LightGBM] ["}', '{"witness": "our secret"}'], "text": "x",
    })  # fmt: skip
    kept = cleaned("lines", lines, Names(()))

    assert kept.select("pattern", "captures").rows() == [
        ("trainer-line", '{"witness": "[LightGBM] ["}'), ("trainer-line", None),
    ]  # fmt: skip
