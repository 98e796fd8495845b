"""Points split by metric: each number gets to its place, whatever is NULL and however the table is divided."""

from datetime import UTC, datetime, timedelta
from math import nan

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from loganalyst.curves import metricarrays
from loganalyst.model import table

START = datetime(2026, 1, 2, tzinfo=UTC)
ROWS = st.lists(
    st.fixed_dictionaries({
        "session": st.one_of(st.none(), st.integers(0, 2)),
        "metric": st.sampled_from(["loss", "lr", "acc"]),
        "step": st.one_of(st.none(), st.integers(-5, 5)),
        "epoch": st.one_of(st.none(), st.floats(0, 3)),
        "time": st.one_of(st.none(), st.integers(0, 9).map(lambda s: START + timedelta(seconds=s))),
        "value": st.one_of(st.none(), st.floats(allow_nan=True)),
        "source": st.sampled_from(["a.log", "b.log"]),
        "line": st.one_of(st.none(), st.integers(1, 99)),
    }),
    max_size=30,
)  # fmt: skip


def expected(rows: list[dict[str, object]], metric: str) -> list[object]:
    """The same, row by row."""
    own = [row for row in rows if row["metric"] == metric and row["value"] is not None]
    steps: list[object] = []
    for i, row in enumerate(own):
        last = steps[-1] if steps else 0
        none = all(other["step"] is None for other in own)
        steps.append(i if none else last if row["step"] is None else row["step"])
    return [
        steps,
        [row["value"] for row in own],
        [nan if row["time"] is None else row["time"].timestamp() for row in own],  # type: ignore[attr-defined]
        [nan if row["epoch"] is None else row["epoch"] for row in own],
        [row["session"] or 0 for row in own],
        [-1 if row["line"] is None else row["line"] for row in own],
        own[-1]["source"] if own else None,
    ]


@given(ROWS, st.integers(1, 7), st.integers(1, 9))
def test_every_point_goes_to_its_metric_in_file_order(rows: list[dict[str, object]], block: int, piece: int) -> None:
    """With blocks and chunks of any size."""
    pieces = [rows[i : i + piece] for i in range(0, len(rows), piece)]
    points = pl.concat([
        table("points"), *(table("points", {k: [row[k] for row in some] for k in some[0]}) for some in pieces)
    ])  # fmt: skip
    found = list(metricarrays.by_metric(points, block_rows=block))

    assert [one.metric for one in found] == list(dict.fromkeys(row["metric"] for row in rows))
    for one in found:
        *arrays, source = expected(rows, one.metric)
        for ours, theirs in zip(one[1:-1], arrays, strict=True):
            assert_array_equal(ours, theirs)
        assert one.source == source


def test_arrays_have_the_types_of_curves() -> None:
    """Also for NULL values."""
    points = table("points", {"metric": ["loss", "lr"], "value": [1.0, None], "session": 0})
    loss, lr = metricarrays.by_metric(points)

    assert [a.dtype for a in loss[1:-1]] == [np.dtype(t) for t in ("i8", "f8", "f8", "f8", "i4", "i8")]
    assert [len(a) for a in lr[1:-1]] == [0] * 6
    assert (loss.source, lr.source) == (None, None)
