"""Tables of delimited text: Lightning, Keras, YOLO, Stable-Baselines3, exports of W&B and TensorBoard, and others.

A row is a logged step; a numeric column is a metric. An empty cell is NULL, `nan` is NaN. A header repeated among the
rows begins a new session: the program was started again on the same file.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from loganalyst.model import Tables
from loganalyst.opening import opened
from loganalyst.sources.files.lineblocks import binary, blocks, gap, text
from loganalyst.sources.tables import cells, commentnames, csvwithtext, jsonwithtext
from loganalyst.sources.tables.csvlikeness import likeness
from loganalyst.sources.tables.csvtable import TextTable, comments_above
from loganalyst.sources.tables.nulbytes import Hole, holed, pieces

NAME = "csv"

BLOCK = 4 << 20  # bytes


def sniff(path: Path, head: bytes) -> float:
    """How sure it is that the file is a table of metrics: by its name, its header, and its first rows."""
    opening = text(head)
    opened_lines = [n for n in opening.split("\n")[:40] if n.strip() and "\0" not in n]
    lines = [n for n in opened_lines if not n.startswith("#")]
    if not lines or (binary(head) and not holed(head)):
        return 0.0
    if len(head) >= 1 << 16 or not opening.endswith("\n"):
        lines = lines[:-1] or lines
    rows = cells.parsed(lines, cells.separator(lines))
    if not rows:
        return 0.0
    body = cells.without_margin(rows[1:])
    header = cells.without_margin(rows[:1])[0] if body != rows[1:] else rows[0]
    if cells.numeric(header) and (named := commentnames.names(comments_above(opened_lines), len(header))):
        header, body = named, [header, *body]
    return likeness(path, header, body, ends_blank=len(header) < len(rows[0]))


def read(path: Path, *, size: int = BLOCK) -> Iterator[Tables]:
    """The table's points. `session` counts its headers from 0; `line` is the line in which the row begins."""
    with opened(path) as file:
        head = file.read(1 << 16)
    if binary(head) and not holed(head):
        why = f"binary data, not CSV: a NUL byte at offset {head.index(0)}"
        yield Tables(gaps=gap(path, why, 0, path.stat().st_size))
        return
    first = next((line for line in text(head).split("\n")[:40] if line.strip() and not line.startswith("#")), "")
    sep = cells.separator([first]) if first else ""
    columns = first.count(sep) + 1 if sep else 0
    numbers = _numbers(path, size)
    if columns > 1 and not holed(head) and csvwithtext.has_text(path, sep, columns):
        yield from jsonwithtext.read(path, numbers, csvwithtext.TableCopy(sep, columns))
    else:
        yield from numbers


def _numbers(path: Path, size: int) -> Iterator[Tables]:
    """The table's points, and the gaps between them."""
    table = TextTable(path)
    for piece in chain.from_iterable(map(pieces, blocks(path, size=size))):
        if isinstance(piece, Hole):
            table.losses.zeroed(piece)
        else:
            yield from table.feed(piece)
        if table.refused:
            break
    yield table.gap_rows()
