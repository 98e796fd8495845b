"""Rows of W&B metrics as points."""

import json

import pytest

from loganalyst.sources.wandb.metricrows import Rows


def key(*names: str) -> bytes:
    """A raw key: field 1 for one name, field 2 for each of several."""
    field = 0x0A if len(names) == 1 else 0x12
    return b"".join(bytes([field, len(name)]) + name.encode() for name in names)


def test_a_row():
    """Axes, nested names, histograms, and values that are not numbers."""
    rows = Rows("run.wandb")
    keys = [key("_step"), key("_timestamp"), key("epoch"), key("a", "b"), key("note"), key("_runtime")]
    rows.add(rows.layout(keys), [b"3", b"1.5", b"2", b"0.5", b'"x"', b"9"], place=0)
    points, distributions = rows.take()

    assert points.select("metric", "step", "epoch", "value").rows() == [("epoch", 3, 2.0, 2.0), ("a.b", 3, 2.0, 0.5)]
    assert points["time"][0].timestamp() == 1.5
    assert distributions.height == 0
    assert dict(rows.unused) == {("text", "note"): 1}
    assert rows.take()[0].height == 0


def test_places_are_the_order():
    """Rows may be added in any order."""
    rows = Rows("run.wandb")
    layout = rows.layout([key("x")], "system/")
    for place in (2, 0, 1):
        rows.add(layout, [str(place).encode()], place=place, time=1.0)

    assert rows.take()[0].select("metric", "value").rows() == [("system/x", 0.0), ("system/x", 1.0), ("system/x", 2.0)]


def test_new_metrics_only():
    """Of a summary, metrics that had a point before are left out, also after a restart."""
    rows = Rows("run.wandb")
    rows.add(rows.layout([key("x")]), [b"1"])
    rows.take()
    again = Rows("run.wandb")
    again.restore(json.loads(json.dumps(rows.state())))
    again.add(again.layout([key("x"), key("y")]), [b"2", b"3"], new_only=True)

    assert again.take()[0].select("metric", "value").rows() == [("y", 3.0)]


def test_a_value_that_is_not_json():
    """An error for the caller."""
    rows = Rows("run.wandb")
    with pytest.raises(ValueError, match="Expecting"):
        rows.add(rows.layout([key("x")]), [b"tru"])
