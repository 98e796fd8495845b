"""Groups of runs that failed alike."""

import polars as pl

from loganalyst.auditing.failuregroups import groups
from loganalyst.auditing.runlist import COLUMNS


def test_messages_that_differ_in_numbers_and_paths_are_alike() -> None:
    """Another message of the same cause is another group; a cause without a text has no message."""
    said = ["lost /data/a/1.pt at 0x7f", "lost /home/x/2.pt at 0x80", "no space left", None]
    messages = [
        {"says": s, "line": 3 if s else None, "node": n} for s, n in zip(said, ["n1", "n1", "n2", None], strict=True)
    ]
    alike = {"cause": "disk-full", "label": "disk_full"}
    rows = [{"run_id": str(i), "path": f"/r/{i}", **alike, **row} for i, row in enumerate(messages)]
    config = pl.LazyFrame(schema={"run_id": pl.String, "key": pl.String, "value": pl.String})
    found = groups(pl.DataFrame(rows, schema=COLUMNS), config)

    assert found.select("like", "runs", "node", "on_node").sort("like").rows() == [
        (None, 1, None, None),
        ("lost PATH at #", 2, "n1", 2),
        ("no space left", 1, "n2", 1),
    ]
