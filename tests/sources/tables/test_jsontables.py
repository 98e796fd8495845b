"""Tables in JSON objects: pandas' split form, and pairs of step and value."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.sources.tables import jsontables

LOSS, VAL = [2.0, 1.5, 1.2, 1.1], [2.1, 1.7, 1.5, 1.4]
TABLE = pd.DataFrame({"loss": LOSS, "val_loss": VAL})


def points(path: Path, text: str) -> pl.DataFrame:
    path.write_text(text)
    return pipeline.read_run(path).points.select("metric", "step", "value").sort("metric", "step")


def both(steps: list[int]) -> list[tuple[str, int, float]]:
    return [(name, *pair) for name, x in (("loss", LOSS), ("val_loss", VAL)) for pair in zip(steps, x, strict=True)]


def test_pandas_split_form(tmp_path: Path) -> None:
    """The rows are counted, by their index if it counts, or by a column that does."""
    assert points(tmp_path / "a.json", TABLE.to_json(orient="split")).rows() == both([0, 1, 2, 3])
    by_index = TABLE.set_index(pd.Index([10, 20, 30, 40])).to_json(orient="split")
    assert points(tmp_path / "a.json", by_index).rows() == both([10, 20, 30, 40])
    by_epoch = TABLE.assign(epoch=[1, 2, 3, 4]).to_json(orient="split", index=False)
    assert points(tmp_path / "a.json", by_epoch).rows() == both([1, 2, 3, 4])


def test_a_long_table_is_told_by_its_opening(tmp_path: Path) -> None:
    losses = [1 / (i + 1) for i in range(9000)]

    assert points(tmp_path / "a.json", pd.DataFrame({"loss": losses}).to_json(orient="split")).height == 9000


@pytest.mark.parametrize(
    "table",
    [
        TABLE.set_index(pd.Index(["bert", "gpt2", "rnn", "cnn"])),  # results of models
        TABLE.assign(image=["a", "b", "c", "d"]),  # predictions
        pd.DataFrame({"x": LOSS, "y": VAL}),  # data
    ],
)
def test_tables_that_are_no_course(table: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(table.to_json(orient="split"))

    assert not pipeline.read_run(tmp_path / "a.json").points.height


def test_pairs_of_step_and_value(tmp_path: Path) -> None:
    """As Flower's history has them. Each list has its own steps."""
    history = {
        "losses_centralized": [[0, 2.3], [1, 1.9], [2, 1.7]],
        "metrics_distributed_fit": {},
        "metrics_centralized": {"accuracy": [[1, 0.5], [2, 0.625], [4, 0.75]]},
    }

    assert points(tmp_path / "history.json", json.dumps(history)).rows() == [
        *[("losses_centralized", i, x) for i, x in ((0, 2.3), (1, 1.9), (2, 1.7))],
        *[("metrics_centralized/accuracy", i, x) for i, x in ((1, 0.5), (2, 0.625), (4, 0.75))],
    ]


def test_pairs_with_values_that_are_no_numbers(tmp_path: Path) -> None:
    found = points(tmp_path / "a.json", '{"loss": [[0, 2.5], [10, NaN], [20, -Infinity]]}')["value"].to_list()

    assert (found[0], found[2]) == (2.5, -math.inf)
    assert math.isnan(found[1])


@pytest.mark.parametrize(
    "data",
    [
        {"loss": [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0]]},  # no steps
        {"loss": [[0, 1.0], [0, 2.0], [1, 3.0]]},  # a step twice
        {"loss": [[0, 1.0], [1, 2.0, 3.0], [2, 3.0]]},
        {"loss": [[0, 1.0], [1, 2.0]]},
        {"loss": [[0, True], [1, False], [2, True]]},
        {"loss": [[0, None], [1, 1.0], [2, 1.5]]},
        {"columns": ["loss"], "data": [[1.0], [2.0, 3.0]]},
        {"columns": [], "data": []},
        {"columns": ["loss", "loss"], "data": [[1.0, 2.0]]},
    ],
)
def test_other_lists_are_no_pairs_and_no_tables(data: dict[str, Any]) -> None:
    assert not jsontables.steps_of_pairs(data)
    assert not jsontables.columns(data)


@given(
    st.dictionaries(
        st.sampled_from(["loss", "val_loss", "acc"]),
        st.dictionaries(st.integers(0, 10**9), st.floats(allow_nan=False), min_size=3),
    )
)
def test_every_pair_comes_back(curves: dict[str, dict[int, float]]) -> None:
    found = jsontables.steps_of_pairs({name: [[s, x] for s, x in sorted(c.items())] for name, c in curves.items()})
    steps = found.get("step", [])

    assert steps == sorted(set(steps))
    assert {name: {s: x for s, x in zip(steps, found[name], strict=True) if x is not None} for name in curves} == curves
