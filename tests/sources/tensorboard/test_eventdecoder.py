"""The state of reading an event file."""

from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.tensorboard.eventdecoder import Decoder
from loganalyst.sources.tensorboard.repeatedturns import PIECE


def test_a_file_without_events_has_a_reason() -> None:
    """An empty file, and one without an intact event."""
    reasons = [Decoder("a", None, PIECE).ending(size).gaps["why"].to_list() for size in (0, 40)]

    assert reasons == [["empty event file"], ["no event is intact"]]


def test_a_mark_carries_tags_and_times() -> None:
    """What was read before counts, and the plugins of its tags are known."""
    state = {"plugins": {"loss": "scalars"}, "walls": [10.0, 12.0], "skipped": {"images": [2, "sample"]}}
    decoder = Decoder("a", Mark(100, {"points": 7, "distributions": 0, "config": 0}, state), PIECE)
    ending = decoder.ending(100)

    assert decoder.mark(100).kept == {"points": 7, "distributions": 0, "config": 0, "gaps": 0}
    assert decoder.mark(100).state["plugins"] == {"loss": "scalars"}
    assert ending.gaps["why"].to_list() == ["2 of plugin 'images' not read, the first under 'sample'"]
    assert ending.sessions["source"].to_list() == ["a"]
