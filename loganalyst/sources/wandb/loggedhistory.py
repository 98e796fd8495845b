"""Whether a run's file says what was logged, or is one that its writer never got to fill."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from loganalyst.opening import opened
from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.leveldb import batches

SMALL = 1 << 20  # bytes; what a run says of itself before it logs does not fill a larger file
AT = 7  # bytes of the file's own header


def logged(path: Path) -> bool:
    """Whether the file may hold metrics: a row of the history, or the summary. True where it cannot be opened."""
    try:
        with opened(path) as file:
            if path.stat().st_size > SMALL:
                return True
            return any(map(_metrics, _records(file)))
    except OSError:
        return True


def _records(file: BinaryIO) -> Iterator[bytes]:
    for batch in batches(file, AT):
        for start, end in zip(batch.starts.tolist(), batch.ends.tolist(), strict=True):
            yield batch.data[start:end]


def _metrics(data: bytes) -> bool:
    try:
        return proto.record(data)[0] in (proto.HISTORY, proto.SUMMARY)
    except (ValueError, IndexError):
        return False
