"""The rows of each process that printed to a log, as far as prefixes distinguish processes."""

from typing import NamedTuple

import polars as pl


class Printer(NamedTuple):
    """The rows of one process, as far as prefixes distinguish processes: positions and texts, in file order."""

    prefix: str
    at: list[int]
    texts: list[str]


def by_printer(rows: pl.DataFrame) -> list[Printer]:
    """The `rows` (prefix, body) by printer, in the order of their prefixes."""
    prefix, texts = rows["prefix"].to_list(), rows["body"].to_list()
    if len(set(prefix)) == 1:
        return [Printer(prefix[0], list(range(len(texts))), texts)]
    found: dict[str, Printer] = {}
    for at, (name, text) in enumerate(zip(prefix, texts, strict=True)):
        one = found.get(name) or found.setdefault(name, Printer(name, [], []))
        one.at.append(at)
        one.texts.append(text)
    return [found[name] for name in sorted(found)]
