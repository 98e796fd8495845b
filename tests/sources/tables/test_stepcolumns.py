"""The step, epoch and time of logged rows."""

import polars as pl

from loganalyst.sources.tables import stepcolumns
from loganalyst.sources.tables.stepcolumns import Axes


def numbers(*values: float | None) -> pl.Series:
    return pl.Series(values, dtype=pl.Float64)


def test_matching():
    """In the order of the list, with blanks and hyphens as underscores."""
    assert stepcolumns.matching(["Epoch", "loss", "Global Step", "step"], stepcolumns.STEPS) == ["step", "Global Step"]


def test_times():
    """Seconds to nanoseconds, date texts, and NULL for anything else."""
    found = stepcolumns.times(numbers(1.7e9, 1.7e12, 1.7e18, 5.0)).to_list()

    assert [time and time.timestamp() for time in found] == [1.7e9, 1.7e9, 1.7e9, None]
    texts = pl.Series(["2026-03-01 10:00:00", "2026-03-01T11:00:00+01:00", "later"])
    assert [time and time.isoformat() for time in stepcolumns.times(texts).to_list()] == [
        "2026-03-01T10:00:00+00:00",
        "2026-03-01T10:00:00+00:00",
        None,
    ]


def test_choose():
    """A rising counter before a length; fractions are epochs; without a step the epoch counts."""
    rising, length = numbers(1, 2, 3), numbers(200, 200, 200)

    assert Axes.choose({"step": length, "iter": rising}).step == "iter"
    assert Axes.choose({"step": numbers(0.5, 1.5, 2.5)}).epoch == "step"
    assert Axes.choose({"epoch": rising, "loss": length}).step == "epoch"
    assert Axes.choose({"loss": length}).step is None


def test_steps_that_restart_in_each_epoch():
    """They become continuous; a missing step takes the one before it."""
    columns = {"epoch": numbers(0, 0, 1, 1), "step": numbers(0, 1, None, 1)}
    axes = Axes.choose(columns | {"step": numbers(0, 1, 0, 1)})

    assert axes.place(columns | {"step": numbers(0, 1, 0, 1)}, 4)["step"].to_list() == [0, 1, 2, 3]
    again = Axes(step="step")
    assert again.place({"step": numbers(3, None, 5)}, 3)["step"].to_list() == [3, 3, 5]


def test_wide_points():
    """Metric after metric; a part is a prefix, and `value` takes the name in a column of names."""
    from loganalyst.sources.files.constantcolumns import Constants

    index = pl.DataFrame(
        {"session": [0, 0], "line": [1, 2], "step": [1, 2], "epoch": [None, None], "time": [None, None]}
    )
    texts = {"tag": pl.Series(["loss", "acc"]), "split": pl.Series(["train", None], dtype=pl.String)}
    found = stepcolumns.wide_points(index, {"value": numbers(0.5, None)}, texts, "x.csv", Constants())

    assert found.select("metric", "step", "value").rows() == [("train/loss", 1, 0.5)]
