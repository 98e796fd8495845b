"""Compressed logs: JSON lines packed by gzip and by zstd."""

import gzip
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from formats.case import Case, Columns, Take, transposed
from formats.jsonl import write as write_lines


def _module(suffix: str) -> Any:
    if suffix == ".gz":
        return gzip
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def write(folder: Path, rows: int, metrics: int, suffix: str) -> Path:
    plain = write_lines(folder, rows, metrics)
    path = plain.with_name(plain.name + suffix)
    path.write_bytes(_module(suffix).compress(plain.read_bytes()))
    plain.unlink()
    return path


def unpacked_lines() -> Take:
    """The module's own file, read line by line by the standard library."""

    def take(path: Path) -> Callable[[], Columns]:
        with _module(path.suffix).open(path, "rt") as file:
            rows = [json.loads(line) for line in file]
        return lambda: transposed([(k, row["step"], v) for row in rows for k, v in row.items() if k != "step"])

    return take


CASES = tuple(
    Case(f"jsonl{suffix}", partial(write, suffix=suffix), (unpacked_lines,), (200_000, 5)) for suffix in (".gz", ".zst")
)
