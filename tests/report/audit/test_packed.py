"""The runs of an audit as columns for the page's script."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.auditing.runlist import COLUMNS
from loganalyst.report.audit.packed import address, argument, packed, table


@pytest.mark.parametrize(
    ("path", "quoted"),
    [("/a/b-1", "/a/b-1"), ("/a b/$(x)", "'/a b/$(x)'"), ("/a\n'x\u202e", "$'/a\\x0a\\x27x\\xe2\\x80\\xae'")],
)
def test_a_path_is_quoted_for_a_shell(path: str, quoted: str) -> None:
    """Invisible characters are escapes."""
    assert argument(path) == quoted


def test_an_address_is_relative_to_its_page() -> None:
    """Special characters are quoted for a link."""
    assert address("/out/reports/a b#1.html", Path("/out")) == "reports/a%20b%231.html"


def test_each_text_is_there_once() -> None:
    """A run has the position of its text, -1 for none."""
    rows = [
        {"run_id": f"{i}", "path": f"/r/{i}", "status": "healthy", "node": n, "points": 1} for i, n in enumerate("aab")
    ]
    runs = pl.DataFrame(rows, schema=COLUMNS).with_columns(report=pl.lit(None, pl.String))
    groups = pl.DataFrame({"members": [["2"]]})
    found = packed(table(runs, groups, Path()))

    assert found["texts"]["node"] == (["a", "b"], [0, 0, 1])
    assert found["texts"]["run"] == (["0", "1", "2"], [0, 1, 2])
    assert found["texts"]["what"] == (["healthy"], [0, 0, 0])
    assert found["texts"]["cause"] == ([], [-1, -1, -1])
    assert found["numbers"]["group"] == [None, None, 0]
