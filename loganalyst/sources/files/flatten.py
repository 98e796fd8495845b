"""Nested data from an untrusted file as dotted keys, bounded in number and depth, and as `config` rows."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.model.tabletext import printable
from loganalyst.sources.files.lineblocks import gap

Leaf = str | int | float | bool | None


class TooLargeError(ValueError):
    """The data have more values, or a deeper nesting, than any log."""


def leaves(data: Any, *, sep: str = ".", limit: int = 20_000, depth: int = 40) -> Iterator[tuple[str, Leaf]]:
    """(key, value) of every scalar. Keys are joined by `sep`, list items are named by position, and empty containers
    are ``{}`` and ``[]``.

    The walk is lazy, so data with shared parts (YAML aliases) cost at most `limit` values. Raises TooLargeError above
    `limit` or `depth`.
    """
    for count, item in enumerate(_walk(data, "", sep, depth)):
        if count == limit:
            raise TooLargeError(f"more than {limit:,} values (a YAML alias bomb?)")
        yield item


def _walk(data: Any, key: str, sep: str, depth: int) -> Iterator[tuple[str, Leaf]]:
    if depth < 0:
        raise TooLargeError("nested too deeply")
    if isinstance(data, Mapping) and data:
        items: Iterable[tuple[Any, Any]] = data.items()
    elif isinstance(data, list | tuple) and data:
        items = enumerate(data)
    else:
        yield key, data if isinstance(data, Leaf) else str(data)
        return
    for name, value in items:
        yield from _walk(value, f"{key}{sep}{printable(name)}" if key else printable(name), sep, depth - 1)


def number(value: Leaf) -> float | None:
    """A number, or a text that is one, as float64 (YAML 1.1 reads ``1e-4`` as text). Truth values are no numbers."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except ValueError:
        return None
    except OverflowError:
        return float("inf") if not isinstance(value, str) and value > 0 else float("-inf")


def shown(value: Leaf) -> str:
    """The `value` text of a config row, with JSON's words for truth values and null."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        return printable(value)
    except ValueError:  # an int above Python's limit of decimal digits
        return hex(value) if isinstance(value, int) else "?"


def config_of(data: Any, path: Path, *, prefix: str = "") -> Tables:
    """Nested settings of the file `path` as `config` rows, or the gap row that says why they were refused."""
    try:
        rows = [(key, value) for key, value in leaves(data) if key]
    except TooLargeError as error:
        return Tables(gaps=gap(path, f"config refused: {error}"))
    return Tables(config=config_table(rows, path.name, prefix=prefix))


def config_table(items: Iterable[tuple[str, Leaf]], origin: str, *, prefix: str = "") -> pl.DataFrame:
    """`config` rows of (dotted key, value) pairs, each key with `prefix` before it."""
    rows = list(items)
    if not rows:  # most batches have none
        return table("config")
    return table(
        "config",
        {
            "key": [prefix + key for key, _ in rows],
            "value": [shown(value) for _, value in rows],
            "number": pl.Series([number(value) for _, value in rows], dtype=pl.Float64),
            "origin": origin,
        },
    )
