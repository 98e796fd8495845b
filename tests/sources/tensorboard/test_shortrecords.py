"""The short records of a block."""

from io import BytesIO

import numpy as np
from tensorboard.summary.writer.record_writer import RecordWriter

from loganalyst.sources.tensorboard.shortrecords import FRAME, Frames, at, headers

PADDING = bytes(64)


def test_frames():
    """Records follow one another up to a damaged header; later ones are a run of their own."""
    file = BytesIO()
    writer = RecordWriter(file)
    for size in (10, 20, 255, 30):
        writer.write(bytes([7]) * size)
    data = bytearray(file.getvalue() + PADDING)
    raw, size = np.frombuffer(data, np.uint8), len(data) - len(PADDING)
    places = [0, 26, 62, 333]

    assert Frames(raw, 0, size).places.tolist() == places
    assert Frames(raw, 0, size).run(0) == slice(0, 4)
    assert Frames(raw, 0, size).run(1) == slice(0, 0)
    data[26] ^= 1
    damaged = Frames(raw, 0, size)
    assert damaged.places.tolist() == [0, 62, 333]
    assert (damaged.run(0), damaged.run(62)) == (slice(0, 1), slice(1, 3))
    assert damaged.behind.tolist() == [10 + FRAME, 62 + 255 + FRAME, 333 + 30 + FRAME]


def test_headers():
    """One for each length below 256."""
    file = BytesIO()
    RecordWriter(file).write(bytes(200))

    assert headers()[file.getvalue()[:12]] == 200
    assert len(headers()) == 256


def test_items_at_any_alignment():
    """Little-endian numbers at odd offsets."""
    raw = np.frombuffer(b"\1\2\0\3\0\0\0\0", np.uint8)

    assert at(raw, np.array([1, 3]), "<u2").tolist() == [2, 3]
    assert at(raw, np.array([0]), "<u2", 1).tolist() == [2]
