"""Amounts of a log that are read and handled at once. They bound memory; the result is the same for all sizes."""

from typing import NamedTuple


class Sizes(NamedTuple):
    """`batch`: bytes a batch; a longer line comes in pieces. `rows`: rows a batch.

    `cache`: bytes that are searched at once; they and their marks stay in the processor's cache. `block`: records or
    points that are placed at once. `waiting`: bytes of numbers that wait in memory; beyond, a temporary file holds
    them. `shared`: bytes of a log from which a second process scans ahead; its start costs half a second of a
    processor.
    """

    batch: int = 8 << 20
    rows: int = 1 << 17
    cache: int = 1 << 18
    block: int = 1 << 16
    waiting: int = 4 << 20
    shared: int = 64 << 20


SIZES = Sizes()
