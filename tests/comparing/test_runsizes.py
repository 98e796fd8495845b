"""Sizes of runs: from settings, else from metrics, else from steps and batches."""

from types import SimpleNamespace
from typing import Any

import polars as pl

from loganalyst.comparing.runsizes import sizes
from tests.comparing.conftest import config, features

POINTS = {"run_id": pl.String, "metric": pl.String, "value": pl.Float64}


def sized(settings: dict[str, Any], points: list[tuple[str, str, float]], **known: list[Any]) -> list[tuple[Any, ...]]:
    """Parameters, tokens, compute and samples of the runs in `settings`."""
    ids = list(settings)
    table = features(run_id=ids, **known).with_columns(run_id=pl.Series(ids))
    store: Any = SimpleNamespace(points=pl.LazyFrame(points, schema=POINTS, orient="row"), features=table.lazy())
    return sizes(store, ids, config(settings)).drop("run_id").rows()


def test_metrics_serve_where_no_setting_does():
    """The largest finite value of each run, by the last name in any case; those of other runs are none of ours."""
    points = [
        ("a", "train/Tokens_Seen", 1e6), ("a", "train/Tokens_Seen", 3e6), ("a", "train/Tokens_Seen", float("inf")),
        ("b", "perf.tokens_seen", 2e6), ("x", "tokens_seen", 9e9), ("a", "n_params_left", 5.0),
    ]  # fmt: skip

    assert sized({"a": {"model.n_params": 1e3}, "b": {"model.n_params": 2e3}}, points) == [
        (1e3, 3e6, 6 * 1e3 * 3e6, None),
        (2e3, 2e6, 6 * 2e3 * 2e6, None),
    ]


def test_settings_go_before_metrics_and_steps_are_the_last_resort():
    """Tokens are steps times batch times length if no source has them; samples are known without a length."""
    known = {"run_last_step": [100], "config_batch": [8.0]}

    assert sized({"a": {"n_params": 10, "tokens": 7}}, [("a", "tokens", 9.0)]) == [(10.0, 7.0, 420.0, None)]
    assert sized({"a": {"block_size": 4}}, [], **known) == [(None, 3200.0, None, 800.0)]
    assert sized({"a": {"lr": 1.0}}, [], **known) == [(None, None, None, 800.0)]
