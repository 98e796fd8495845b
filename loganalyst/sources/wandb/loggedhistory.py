"""Whether a run file contains metrics, or was begun and never filled."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from loganalyst.opening import opened
from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.leveldb import batches

MAX_WITHOUT_METRICS = 1 << 20  # bytes; the records before the first has_metrics row take less
FILE_HEADER = 7  # bytes


def has_metrics(path: Path) -> bool:
    """Whether the file may hold metrics: a history row or a summary. True if it cannot be opened."""
    try:
        with opened(path) as file:
            if path.stat().st_size > MAX_WITHOUT_METRICS:
                return True
            return any(map(_is_metrics, _records(file)))
    except OSError:
        return True


def _records(file: BinaryIO) -> Iterator[bytes]:
    for batch in batches(file, FILE_HEADER):
        for start, end in zip(batch.starts.tolist(), batch.ends.tolist(), strict=True):
            yield batch.data[start:end]


def _is_metrics(data: bytes) -> bool:
    try:
        return proto.record(data)[0] in (proto.HISTORY, proto.SUMMARY)
    except (ValueError, IndexError):
        return False
