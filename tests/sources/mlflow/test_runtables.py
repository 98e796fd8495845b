"""The tables that both stores of MLflow share."""

import polars as pl
import pytest

from loganalyst.sources.mlflow import runtables


@pytest.mark.parametrize(
    ("status", "expected"), [(3, "finished"), ("FAILED", "failed"), (5, "killed"), (1, "unknown"), (None, "unknown")]
)
def test_session(status, expected):
    """Status by number or name; times in ms."""
    (row,) = runtables.session("meta.yaml", {"status": status, "start_time": 1_700_000_000_500}).to_dicts()

    assert row["status"] == expected
    assert row["started"].timestamp() == 1_700_000_000.5
    assert row["ended"] is None


def test_config():
    """Parameters keep their names, tags get a prefix, and secrets and the user are left out."""
    rows = runtables.config("m", [("opt/lr", "0.1")], [("note", "x"), ("mlflow.user", "me"), ("mlflow.runName", "r")])

    assert rows.select("key", "value").rows() == [("opt.lr", "0.1"), ("tags.note", "x"), ("mlflow.runName", "r")]


def test_facts():
    """Empty ones are left out."""
    rows = runtables.facts("m", {"run_name": "r", "experiment_id": 3, "source_name": ""})

    assert rows.select("key", "value").rows() == [("mlflow.run_name", "r"), ("mlflow.experiment_id", "3")]


def test_points():
    """Milliseconds become times."""
    rows = pl.DataFrame({"metric": ["a"], "step": [7], "value": [0.5], "ms": [1500], "line": [1]})
    (row,) = runtables.points(rows, "a").to_dicts()

    assert (row["metric"], row["step"], row["value"], row["line"], row["session"]) == ("a", 7, 0.5, 1, 0)
    assert row["time"].timestamp() == 1.5
