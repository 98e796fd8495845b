"""A comparison is worse if one of its metrics is."""

from dataclasses import replace

import polars as pl
import pytest

from loganalyst.comparing.comparisonresult import Comparison, Regression, Scaling, Seeds, Sensitivity, Unrelated

EMPTY = Comparison(
    pl.DataFrame(), pl.DataFrame(), pl.DataFrame(), None, Sensitivity(0), None, Seeds(), Scaling(), (), (), ()
)


def with_verdict(verdict: str) -> Comparison:
    """A comparison of two sets with one metric."""
    regression = Regression("loss", "train_loss", 1.0, 1.1, 3, 3, 0, 0.1, None, None, None, verdict)  # type: ignore[arg-type]
    return replace(EMPTY, regressions=(regression,))


@pytest.mark.parametrize(
    ("verdict", "worse"), [("worse", True), ("better", False), ("same", False), ("unknown", False)]
)
def test_worse_follows_from_the_verdicts(verdict: str, worse: bool) -> None:
    """Also if the metric is one of an unrelated group."""
    group = Unrelated("/b", ("r9",), (0, 3), (0, 2), (), with_verdict(verdict))

    assert with_verdict(verdict).worse is worse
    assert replace(EMPTY, unrelated=(group,)).worse is worse
    assert replace(EMPTY, unrelated=(replace(group, comparison=None),)).worse is False
