"""The names of settings and metrics that identify a training."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from loganalyst.comparing.trainingnames import _short_name, having, incidence, metrics, settings
from tests.comparing.conftest import config


def store(*rows: tuple[str, str]) -> Any:
    schema = {"run_id": pl.String, "metric": pl.String}
    return SimpleNamespace(points=pl.LazyFrame(list(rows), schema=schema, orient="row"))


def test_settings_count_by_their_last_name_and_not_if_any_training_has_them() -> None:
    """`lr` and the seed do not identify a training; facts of a tracker are no settings."""
    found = settings(
        ["a", "b"], config({"a": {"model.n_layer": 2, "lr": 0.1, "seed": 1}, "b": {"n-layer": 3, "_wandb.x": 1}})
    )

    assert found.tolist() == [[True], [True]]


def test_metrics_count_by_role() -> None:
    """A renamed reward is the same metric; the training loss does not count."""
    points = store(("a", "rollout/ep_rew_mean"), ("b", "episode_reward"), ("a", "train/loss"), ("b", "loss"))

    assert metrics(["a", "b"], points).tolist() == [[True], [True]]


def test_having_marks_the_runs_with_a_metric() -> None:
    points = store(("a", "loss"), ("b", "acc"), ("b", "loss"))

    assert having(["b", "c", "a"], points, "acc").tolist() == [True, False, False]
    assert having(["b", "c"], points, None).tolist() == [False, False]


def test_incidence_ignores_other_runs() -> None:
    rows = pl.DataFrame({"run_id": ["b", "x", "a"], "name": ["n1", "n2", "n2"]})

    assert incidence(["a", "b"], rows).tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize(
    ("key", "name"),
    [("model.n-layer", "n_layer"), ("optimizer/name", "optimizer.name"), ("layers.0.size", "layers.size"), ("7", "7")],
)
def test_a_vague_last_part_keeps_the_part_before_it(key: str, name: str) -> None:
    assert _short_name(key, frozenset({"name", "size"})) == name
