"""Points of event files as frames."""

import numpy as np

from loganalyst.model import SCHEMAS
from loganalyst.sources.tensorboard.pointframes import PointFrames


def test_batches_are_joined_in_their_order() -> None:
    """A tag keeps its code; without a batch the frame is empty."""
    frames = PointFrames("run.tfevents")
    codes = np.array([frames.code(tag) for tag in ("loss", "lr", "loss")])
    batch = (codes, np.array([1, 1, 2]), np.array([10.0, 10.0, 11.0]), np.array([0.5, 0.1, 0.4], np.float32))
    points = frames.points([batch, batch])

    assert frames.codes == {"loss": 0, "lr": 1}
    assert points["metric"].to_list() == ["loss", "lr", "loss"] * 2
    assert points["source"].to_list() == ["run.tfevents"] * 6
    assert points["value"].round(6).to_list() == [0.5, 0.1, 0.4] * 2
    assert frames.points([]).schema == SCHEMAS["points"] == points.schema
