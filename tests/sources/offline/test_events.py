"""What offline records of all trackers have in common."""

from pathlib import Path

from loganalyst.model import Tables
from loganalyst.sources.offline.events import Events, milliseconds


def test_points_keep_what_is_not_known_as_null():
    events = Events(Path("a.zip"))
    events.point("loss", "-Infinity", None, None)
    events.point("loss", 2, 3, 1.7e9, 1)
    events.point("loss", None, 4, 1.7e9)
    found = Tables.concat(events.ending(session=False))

    assert found.points.select("step", "epoch", "value").rows() == [(None, None, float("-inf")), (3, 1.0, 2.0)]
    assert found.points["time"][0] is None
    assert found.points["time"][1].timestamp() == 1.7e9
    assert found.gaps["why"].to_list() == ["1 records hold no number, or are not JSON"]


def test_points_are_given_once():
    events = Events(Path("a.zip"))
    events.point("loss", 1.0, 1, None)

    assert [events.points().points.height, events.points().points.height] == [1, 0]


def test_milliseconds():
    assert (milliseconds(1500), milliseconds("x"), milliseconds(True)) == (1.5, None, None)
