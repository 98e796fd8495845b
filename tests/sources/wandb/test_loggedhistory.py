"""Whether a run file contains metrics."""

import struct
import zlib

import pytest
from wandb.proto.wandb_internal_pb2 import Record

from loganalyst.sources.wandb.loggedhistory import has_metrics


def record(kind: str) -> Record:
    out = Record()
    getattr(out, kind).SetInParent()
    return out


@pytest.mark.parametrize(("kinds", "expected"), [(["run"], False), (["run", "history"], True), (["summary"], True)])
def test_has_metrics(tmp_path, kinds, expected):
    """A history row or a summary counts."""
    path = tmp_path / "run-x.wandb"
    data = b":W&B\xe1\xbe\x00"
    for payload in (record(kind).SerializeToString() for kind in kinds):
        data += struct.pack("<IHB", zlib.crc32(payload, zlib.crc32(b"\1")), len(payload), 1) + payload
    path.write_bytes(data)

    assert has_metrics(path) is expected


def test_unreadable_and_large_files(tmp_path):
    """They may have metrics."""
    large = tmp_path / "large.wandb"
    large.write_bytes(bytes((1 << 20) + 1))

    assert has_metrics(tmp_path / "missing.wandb")
    assert has_metrics(large)
