"""TFRecord framing."""

from io import BytesIO
from pathlib import Path

import numpy as np
from tensorboard.summary.writer.record_writer import RecordWriter

from loganalyst.sources.tensorboard import tfrecords
from loganalyst.sources.tensorboard.tfrecords import Block, Mask, payload_length, scan

RECORDS = [b"one", bytes(300), b"three", b"four"]


class Taker:
    """Keeps the intact payloads."""

    stride = 0

    def __init__(self) -> None:
        self.found: list[bytes] = []

    def take(self, block: Block) -> Mask:
        intact = block.intact(np.arange(len(block.starts)))
        self.found += [bytes(block.data[a:b]) for a, b in zip(block.starts[intact], block.ends[intact], strict=True)]
        return intact

    def leap(self, raw: np.ndarray, at: int, size: int) -> int:
        return at


def framed() -> bytearray:
    file = BytesIO()
    writer = RecordWriter(file)
    for record in RECORDS:
        writer.write(record)
    return bytearray(file.getvalue())


def scanned(path: Path, data: bytes, **limits: int) -> tuple[list[bytes], list[tuple], int]:
    path.write_bytes(data)
    taker, gaps = Taker(), []
    with path.open("rb") as file:
        scanning = scan(file, taker, **limits)
        while True:
            try:
                gaps += next(scanning)
            except StopIteration as done:
                return taker.found, [tuple(gap) for gap in sorted(gaps)], done.value


def test_intact(tmp_path):
    """All records, in blocks of any size; reading resumes at the end."""
    data = framed()

    assert scanned(tmp_path / "x", data) == (RECORDS, [], len(data))
    assert scanned(tmp_path / "x", data, chunk=5) == (RECORDS, [], len(data))


def test_a_damaged_payload(tmp_path):
    """It costs one record."""
    data = framed()
    data[50] ^= 1

    assert scanned(tmp_path / "x", data) == (
        [RECORDS[0], *RECORDS[2:]],
        [(19, 316, tfrecords.WRONG_PAYLOAD)],
        len(data),
    )


def test_a_damaged_header(tmp_path):
    """The next valid header ends the gap."""
    data = framed()
    data[19] ^= 1

    assert scanned(tmp_path / "x", data)[:2] == (
        [RECORDS[0], *RECORDS[2:]],
        [(19, 316, "a record's length fails its checksum")],
    )


def test_a_cut_file(tmp_path):
    """Reading resumes at the unfinished record."""
    data = framed()[:-1]

    assert scanned(tmp_path / "x", data) == (RECORDS[:3], [(356, 19, tfrecords.CUT)], 356)


def test_a_long_record(tmp_path):
    """It is skipped."""
    found, gaps, _ = scanned(tmp_path / "x", framed(), chunk=64, max_record=200)

    assert found == [RECORDS[0], *RECORDS[2:]]
    assert gaps == [(19, 316, "a record longer than 0 MiB")]


def test_payload_length():
    """From the first 12 bytes."""
    assert payload_length(bytes(framed()[:12])) == 3
    assert payload_length(bytes(12)) is None
    assert payload_length(b"x") is None
