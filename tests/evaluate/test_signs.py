"""Evidence that speaks both ways."""

import polars as pl
import pytest

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.evaluate.ratios import problem
from loganalyst.evaluate.signs import text, turned
from tests.evaluate.evaluatedruns import NAN, runs

CLIMBED = NAN | {"train_loss_run_up_ratio": 3.0, "train_loss_nonfinite_step": 300, "train_loss_finite_before": 300}
FELL = CLIMBED | {"train_loss_run_up_ratio": 0.5}


def test_an_item_that_turns_its_sign_between_sources_is_listed(judged: Catalogue) -> None:
    """In source a the loss rose before it became NaN where the rate was too high; in source b where it was not."""
    rows = [
        ((CLIMBED if rose == (source == "a") else FELL), ["lr_too_high" if rose else "bad_data"], source)
        for source in "ab"
        for rose in (True, False)
        for _ in range(20)
    ]
    some = runs(rows)
    found = turned(problem(judged, some), some.truths["source"])
    one = found.filter(rule="lr-too-high", item="nonfinite-after-run-up")

    assert one["source"].to_list() == ["a", "b"]
    assert one["ratio"].to_list() == [pytest.approx(3.7136, abs=1e-3), pytest.approx(-3.7136, abs=1e-3)]
    assert "lr-too-high/nonfinite-after-run-up" in text(found)
    same = runs(rows[:40])
    assert turned(problem(judged, same), same.truths["source"]).filter(pl.col("rule") == "lr-too-high").is_empty()
