import numpy as np
import polars as pl

from loganalyst.model import SCHEMAS, Curve, Role
from loganalyst.signals import find

LOSS = Role("train_loss", "", "up", True)
REWARD = Role("reward", "", "down", True)
AXIS = Role("step", "", None, False)


def curve(metric, values, role=LOSS, **given):
    n = len(values)
    columns = {
        "steps": np.arange(n) * 10,
        "times": np.full(n, np.nan),
        "epochs": np.full(n, np.nan),
        "sessions": np.zeros(n, np.int32),
        "lines": np.full(n, -1),
    }
    return Curve(metric, role, values=np.asarray(values, float), **(columns | given))


def noisy(seed=0, n=1000):
    return np.exp(-np.arange(n) / 300 + 0.03 * np.random.default_rng(seed).standard_normal(n)) + 0.3


def test_rows_are_placed_by_the_curve():
    """Session, step, file and line are those of the point; index counts the finite points before it."""
    values = noisy()
    values[100:110] = np.nan
    values[700] *= 3
    sessions = np.repeat(np.array([0, 1], np.int32), 500)

    frame, coverage = find([curve("loss", values, sessions=sessions, lines=np.arange(1000) + 5, source="log.csv")])

    assert coverage == {"full": 1, "screened": 0, "skipped": 0}
    assert SCHEMAS["findings"] == frame.schema
    nan, spike = frame.rows(named=True)
    assert tuple(nan[k] for k in ("kind", "index", "step", "end_step", "effect", "session", "line")) == (
        "nonfinite",
        100,
        1000,
        1090,
        10.0,
        0,
        105,
    )
    assert tuple(spike[k] for k in ("kind", "index", "step", "end_step", "session", "line", "file")) == (
        "spike",
        690,
        7000,
        7000,
        1,
        705,
        "log.csv",
    )


def test_unknown_lines_and_files_are_null():
    """A curve without lines gives NULL, not -1."""
    frame, _ = find([curve("loss", [1.0, 2.0, np.nan, 3.0, 4.0, 2.0, 1.0])])

    assert frame["line"].to_list() == [None]
    assert frame["file"].to_list() == [None]


def test_unjudged_and_empty_curves_are_skipped():
    """Counters and curves without points are counted as skipped."""
    frame, coverage = find([curve("step", np.arange(100), AXIS), curve("loss", [])])

    assert frame.is_empty()
    assert frame.schema == SCHEMAS["findings"]
    assert coverage == {"full": 0, "screened": 0, "skipped": 2}


def test_beyond_forty_curves_only_marked_ones_are_read():
    """Quiet curves after the fortieth are only screened; one with a spike is still found."""
    curves = [curve(f"loss/{i}", noisy(i)) for i in range(60)]
    curves[55].values[500] *= 5

    frame, coverage = find(curves)

    assert frame.filter(pl.col("kind") == "spike")["metric"].to_list() == ["loss/55"]
    assert coverage["full"] + coverage["screened"] == 60
    assert 41 <= coverage["full"] <= 50


def test_every_role_comes_before_a_second_curve_of_any():
    """A lone reward after many losses still gets the full pipeline, in its own direction."""
    curves = [curve(f"loss/{i}", noisy(i)) for i in range(60)]
    falling = 100 - np.r_[np.zeros(500), np.linspace(0, 60, 500)] + np.random.default_rng(0).standard_normal(1000)
    curves.append(curve("reward", falling, REWARD))

    frame, _ = find(curves)

    assert frame.filter(pl.col("metric") == "reward")["kind"].to_list() == ["divergence"]
