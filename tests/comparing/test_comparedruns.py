"""Which runs of a comparison count, and their objective."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from loganalyst.comparing.comparedruns import Gathered, Logged
from loganalyst.comparing.comparisonresult import Objective
from tests.comparing.conftest import config, features, spaced

STORE: Any = SimpleNamespace()
SETTINGS = {"r0": {"lr": 0.1}, "r1": {"lr": 0.2}, "r2": {"lr": 0.3}}
LOGGED = Logged(STORE, pl.DataFrame({"run_id": [*SETTINGS]}), config(SETTINGS), features(val_loss_best=[0.3, 0.2, 0.1]))


def gathered(objective: Objective | None) -> Gathered:
    """Three runs; the second one is left out."""
    rows = pl.DataFrame({"value": [0.3, 0.2, 0.1], "left_out": [None, "unstable", None]})
    return Gathered(LOGGED, spaced({"lr": [0.1, 0.2, 0.3]}), objective, rows, np.array([False, True, False]))


def test_a_selection_keeps_listing_settings_and_features_together() -> None:
    found = LOGGED.at(np.array([2, 0]))

    assert found.listing["run_id"].to_list() == ["r2", "r0"]
    assert set(found.config["number"]) == {0.1, 0.3}
    assert found.features["val_loss_best"].to_list() == [0.1, 0.3]


def test_only_runs_that_are_not_left_out_are_counted() -> None:
    found = gathered(Objective("val/loss", "val_loss", "up", "best", "", 2))

    assert found.counted.tolist() == [0, 2]
    assert found.values.tolist() == [0.3, 0.1]
    assert found.sign == 1.0


def test_without_an_objective_no_run_is_counted() -> None:
    assert gathered(None).counted.tolist() == []
    assert gathered(Objective("acc", "val_score", "down", "best", "", 2)).sign == -1.0
