"""Text with NUL bytes in it: a disk page that was never written, or a file that was extended before it was filled."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from loganalyst.sources.files.lineblocks import Block, binary

_CONTROLS = bytes({*range(32), 127} - {0, *b"\t\n\v\f\r\x1b"})  # control characters that text does not contain


class Hole(NamedTuple):
    """Consecutive lines with NUL bytes: offset and extent in bytes (None: unknown), number of the first line."""

    offset: int | None
    extent: int | None
    line: int


def holed(head: bytes) -> bool:
    """Whether the first bytes of a file are text with NUL bytes: some lines are whole, and no other control character
    occurs.
    """
    whole = any(line.strip() and 0 not in line for line in head.split(b"\n")[:-1])
    return binary(head) and whole and len(head.translate(None, _CONTROLS)) == len(head)


def pieces(block: Block) -> Iterator[Block | Hole]:
    """The lines of a block without NUL bytes, and a Hole for each stretch of lines with them."""
    if 0 not in block.data:
        yield block
        return
    data = np.frombuffer(block.data, np.uint8)
    ends = np.append(np.flatnonzero(data == 10) + 1, len(data))
    lines = np.unique(np.searchsorted(ends, np.flatnonzero(data == 0), "right"))
    first, at = 0, 0
    for run in np.split(lines, np.flatnonzero(np.diff(lines) > 1) + 1):
        begin, end = int(ends[run[0] - 1]) if run[0] else 0, int(ends[run[-1]])
        if begin > at:
            yield _part(block, at, begin, first)
        extent = None if block.offset is None else block.extent(block.data[begin:end])
        yield Hole(block.at(begin), extent, block.line + int(run[0]))
        first, at = int(run[-1]) + 1, end
    if at < len(data):
        yield _part(block, at, len(data), first)


def _part(block: Block, begin: int, end: int, line: int) -> Block:
    return replace(block, data=block.data[begin:end], line=block.line + line, offset=block.at(begin))
