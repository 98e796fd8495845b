"""Runs by node: a node that fails significantly more often is named; without other runs there is no row."""

import polars as pl
import pytest

from loganalyst.auditing import failurecontrasts, nodefailures

BAD, WELL = "diagnosis_complete", "healthy"


def listing(*runs: tuple[str | None, str]) -> pl.DataFrame:
    return pl.DataFrame(runs, schema={"node": pl.String, "status": pl.String}, orient="row")


def test_a_bad_node_is_named() -> None:
    """Seven of eight runs failed on one of three nodes, two of sixteen on the others."""
    bad = [("n1", BAD)] * 7 + [("n1", WELL)]
    others = [("n2", BAD)] * 2 + [("n2", WELL)] * 6 + [("n3", WELL)] * 8
    unjudged = [("n3", "unreadable"), (None, BAD), (None, WELL)]
    found = nodefailures.nodes(listing(*bad, *others, *unjudged))

    assert found.select("node", "runs", "failed", "other_runs", "other_failed", "named").rows() == [
        ("n1", 8, 7, 16, 2, True),
        ("n3", 8, 0, 16, 9, False),
        ("n2", 8, 2, 16, 7, False),
    ]
    chances = failurecontrasts.fisher(pl.DataFrame({"runs": [8, 8, 8], "failed": [7, 0, 2]}), 24, 9)
    assert found["q"].to_list() == pytest.approx(failurecontrasts.adjusted(chances).to_list())


@pytest.mark.parametrize(
    "runs",
    [
        (("n1", BAD), ("n1", WELL)),
        (("n1", BAD), ("n2", BAD)),
        (("n1", WELL), ("n2", WELL)),
        ((None, BAD), ("n2", WELL)),
    ],
)
def test_without_other_runs_no_node_is_compared(runs: tuple[tuple[str | None, str], ...]) -> None:
    """One node, or no run of one kind."""
    assert nodefailures.nodes(listing(*runs)).rows() == []
