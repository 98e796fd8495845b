"""TensorBoard event files (`*tfevents*`): scalars, histograms, text and hparams, in every encoding that writers use.

Most events contain one scalar, and differ from the last event of the same tag only in wall time, step and value. So the
reader extracts these three from all events of a block at once, and looks up the remaining bytes among the templates it
has learned. Only an event without a template is decoded message by message.
"""

from collections.abc import Generator, Iterator
from pathlib import Path

from loganalyst.model import Tables
from loganalyst.opening import opened
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.tensorboard import smallfiles
from loganalyst.sources.tensorboard.eventdecoder import Decoder
from loganalyst.sources.tensorboard.repeatedturns import PIECE
from loganalyst.sources.tensorboard.smallfiles import MAX_SMALL
from loganalyst.sources.tensorboard.templates import WALL_TIME
from loganalyst.sources.tensorboard.tfrecords import CHUNK, HEADER, MAX_RECORD, payload_length, scan

NAME = "tensorboard"


def sniff(path: Path, head: bytes) -> float:
    """1 for an intact event record at the start; 0.9 for an event file's name, as the file may be damaged."""
    length = payload_length(head[: HEADER.size])
    if length is not None and head[HEADER.size : HEADER.size + 1] == bytes([WALL_TIME]):
        return 1.0 if "tfevents" in path.name or b"brain.Event:" in head[: HEADER.size + length] else 0.5
    return 0.9 if "tfevents" in path.name else 0.0


def read(path: Path, **limits: int) -> Iterator[Tables]:
    """The file's tables, block by block; the last batch holds the session. Raises OSError."""
    yield from resume(path, None, **limits)


def resume(
    path: Path,
    mark: Mark | None,
    *,
    chunk: int = CHUNK,
    piece: int = PIECE,
    max_record: int = MAX_RECORD,
    max_small: int = MAX_SMALL,
) -> Generator[Tables, None, Mark]:
    """The tables of the records behind `mark` (None: all), and the mark from which to resume.

    Limits in bytes: `chunk` is read and `piece` compared at a time, longer records than `max_record` are skipped, and
    files up to `max_small` take the path for small files.
    """
    if mark is None and (found := smallfiles.read(path, max_small)):
        yield found.tables(path.name)
        kept = {"points": len(found.steps), "distributions": 0, "config": 0, "gaps": 0}
        state = {"plugins": dict.fromkeys(found.tags, found.plugin), "walls": found.walls, "skipped": {}}
        return Mark(found.size, kept, state)
    decoder = Decoder(path.name, mark, piece)
    with opened(path) as file:
        records = scan(file, decoder, mark.offset if mark else 0, chunk=chunk, max_record=max_record)
        while True:
            try:
                gaps = next(records)
            except StopIteration as done:
                offset: int = done.value
                break
            yield decoder.batch(gaps)
    yield decoder.ending(path.stat().st_size)
    return decoder.mark(offset)
