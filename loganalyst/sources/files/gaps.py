"""Gaps: bytes of a file that a reader could not use."""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from loganalyst.model import table


class Gap(NamedTuple):
    """`bytes` bytes from file offset `offset` on, and the reason why they were not used."""

    offset: int
    bytes: int
    why: str


def gap_table(gaps: Iterable[Gap], file: str) -> pl.DataFrame:
    """Rows of the table `gaps`, by offset."""
    rows = sorted(gaps)
    if not rows:  # most batches have none
        return table("gaps")
    return table("gaps", {
        "file": file,
        "offset": [gap.offset for gap in rows],
        "bytes": [gap.bytes for gap in rows],
        "why": [gap.why for gap in rows],
    })  # fmt: skip
