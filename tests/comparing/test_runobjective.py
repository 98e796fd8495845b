"""The objective of a comparison, and why runs are left out."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from loganalyst.comparing.comparisonresult import Objective
from loganalyst.comparing.runobjective import Goal, values
from loganalyst.errors import SourceError
from tests.comparing.conftest import features, spaced

POINTS = {"run_id": pl.String, "metric": pl.String, "value": pl.Float64}
LOSS = {"val_loss_metric": ["val/loss"] * 4, "val_loss_best": [0.4, 0.3, 0.2, 0.1]}
SCORE = {"val_score_metric": ["val/acc"] * 4, "val_score_best": [0.6, 0.7, 0.8, 0.9]}


def chosen(
    known: dict[str, list[Any]],
    settings: dict[str, list[Any]] | None = None,
    ended_as: str = "finished",
    points: list[tuple[str, str, float]] | None = None,
    metric: str | None = None,
    goal: Goal | None = None,
) -> tuple[Objective | None, pl.DataFrame]:
    """The objective of four runs r0 to r3; `ended_as` is how the last one ended."""
    space = spaced(settings or {"lr": [0.1, 0.2, 0.3, 0.4]})
    ids = list(space.runs)
    table = features(**{"run_last_step": [100] * 4, **known}).with_columns(run_id=pl.Series(ids))
    ends = ["finished"] * 3 + [ended_as]
    listing = pl.DataFrame({"run_id": ids, "ended_as": ends, "status": ["healthy"] * 4})
    store: Any = SimpleNamespace(points=pl.LazyFrame(points or [], schema=POINTS, orient="row"))
    return values(store, table, listing, space, metric=metric, goal=goal)


@pytest.mark.parametrize(
    ("known", "settings", "metric", "worse"),
    [
        (LOSS | SCORE, None, "val/loss", "up"),
        (LOSS | SCORE, {"loss_fn": ["ce", "mse", "ce", "mse"]}, "val/acc", "down"),  # losses are not comparable
        (LOSS, {"loss_fn": ["ce", "mse", "ce", "mse"]}, "val/loss", "up"),
        ({"train_loss_metric": ["loss"] * 4, "train_loss_last": [1.0, 2.0, 3.0, 4.0]}, None, "loss", "up"),
    ],
)
def test_held_out_values_are_preferred(
    known: dict[str, list[Any]], settings: dict[str, list[Any]] | None, metric: str, worse: str
) -> None:
    objective, rows = chosen(known, settings)

    assert objective is not None
    assert (objective.metric, objective.worse, objective.known) == (metric, worse, 4)
    assert rows["left_out"].null_count() == 4


@pytest.mark.parametrize(
    ("more", "ended_as", "why"),
    [
        ({"val_loss_ends_nonfinite": [False] * 3 + [True]}, "finished", "unstable"),
        ({"train_loss_divergence_count": [0, 0, 0, 1]}, "finished", "unstable"),
        ({"run_last_step": [100, 100, 100, 94]}, "killed", "ended early"),
        ({"run_last_step": [100, 100, 100, 96]}, "killed", None),
        ({"run_last_step": [100, 100, 100, 49]}, "finished", "much shorter than the others"),
        ({"run_last_step": [100, 100, 100, 51]}, "finished", None),
        ({"val_loss_best": [0.4, 0.3, 0.2, None]}, "finished", "not logged"),
    ],
)
def test_incomplete_and_unstable_runs_are_left_out(more: dict[str, list[Any]], ended_as: str, why: str | None) -> None:
    objective, rows = chosen({**LOSS, **more}, ended_as=ended_as)

    assert rows["left_out"].to_list() == [None, None, None, why]
    assert objective is not None
    assert objective.left_out == ({why: 1} if why else {})


def test_without_any_measure_there_is_no_objective() -> None:
    objective, rows = chosen({})

    assert objective is None
    assert rows["left_out"].to_list() == ["not logged"] * 4


def test_a_named_metric_is_read_from_its_points() -> None:
    """The median of the last tenth, of finite values only."""
    points = [("r0", "thing", float(i)) for i in range(20)] + [("r0", "thing", float("nan"))]
    objective, rows = chosen({}, points=points, metric="thing", goal="min")

    assert objective == Objective("thing", "other", "up", "last", "as asked", 1, {"not logged": 3})
    assert rows["value"].to_list() == [18.5, None, None, None]


def test_a_metric_without_a_direction_needs_a_goal() -> None:
    with pytest.raises(SourceError, match="add --goal min or --goal max"):
        chosen({}, points=[("r0", "thing", 1.0)], metric="thing")


def test_an_unknown_metric_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(SourceError, match=r"no run has a metric 'val/los'.*did you mean 'val/loss'"):
        chosen({}, points=[("r0", "val/loss", 1.0)], metric="val/los")
