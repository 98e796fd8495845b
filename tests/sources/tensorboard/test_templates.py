"""Events matched by templates."""

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from loganalyst.sources.tensorboard.templates import WIDEST, Templates, prefix


def event(step: int, tag: str, value: float) -> bytes:
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
    return Event(wall_time=1000.5 + step, step=step, summary=summary).SerializeToString()


def test_match():
    """Events with the learned tag and a right checksum; another tag and a flipped bit do not match."""
    events = [event(1, "loss", 0.5), event(300, "loss", 0.25), event(2, "accu", 1.0), event(3, "loss", 2.0)]
    data, spans = b"", []
    for payload in events:
        spans.append((len(data), len(data) + len(payload)))
        data += payload + int(masked_crc32c(payload)).to_bytes(4, "little")
    raw = np.frombuffer(bytearray(data + bytes(WIDEST)), np.uint8)
    starts, ends = np.array(spans).T
    raw[ends[3] - 1] ^= 1
    known = prefix(raw, starts, ends)
    templates = Templates()
    body = events[0][known.bodies[0] :]
    templates.learn(body, [len(body) - 4], [7])
    found = templates.match(raw, starts, ends, known)

    assert known.steps.tolist() == [1, 300, 2, 3]
    assert known.walls.tolist() == [1001.5, 1300.5, 1002.5, 1003.5]
    assert found.matched.tolist() == [True, True, False, False]
    assert sorted(zip(found.events.tolist(), found.codes.tolist(), found.values.tolist(), strict=True)) == [
        (0, 7, 0.5),
        (1, 7, 0.25),
    ]


def test_events_that_are_not_plain():
    """A negative step takes ten bytes, and an event without wall time begins with another field."""
    payloads = [event(-1, "a", 1.0), Event(step=3).SerializeToString().ljust(12, b"\0")]
    data = b"".join(payloads)
    starts = np.array([0, len(payloads[0])])
    ends = np.cumsum([len(payload) for payload in payloads])

    assert prefix(np.frombuffer(data + bytes(64), np.uint8), starts, ends).plain.tolist() == [False, False]
