"""Histories that a script pickled: Keras' `history.history`, lists of losses by name, `train_losses.pkl`.

Forms: a dictionary of lists of numbers, also nested, a list of numbers, named after its file, and a list of
dictionaries, one an epoch: as in JSON. Nothing is unpickled: `picklednumbers` reads plain data and NumPy's numbers. A
pickle is one of these by what it holds, never by its name alone, so models and data sets are refused as before.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from loganalyst import filemeasure
from loganalyst.model import Tables
from loganalyst.opening import whole
from loganalyst.sources.discovery.filenames import Kind, kind
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.flightrecorder.plainpickle import RefusedError
from loganalyst.sources.tables import histories, numberrows, picklednumbers
from loganalyst.sources.tables.jsonfolded import RESULT
from loganalyst.sources.tables.jsonrows import Log
from loganalyst.sources.tables.jsonshape import number_lists
from loganalyst.sources.tables.jsonvalues import values
from loganalyst.sources.tables.namedresults import are_named

NAME = "pickle"

PROTOCOLS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")  # how a pickle begins
EXPORT = "export it as JSON or CSV"


def sniff(path: Path, head: bytes) -> float:
    """How surely it is one of these: 0.9 if it holds a history, and a metric or the file has the name of one.

    >>> sniff(Path("a.pkl"), b"\\x80\\x02}X\\x04\\x00\\x00\\x00loss](K\\x02K\\x01es.")
    0.9
    """
    if not head.startswith(PROTOCOLS):
        return 0.0
    try:
        found = picklednumbers.opening(head)
    except RefusedError:
        return 0.0
    named = kind(path.name) is Kind.TABLE or filemeasure.says_measure(path.stem)
    if isinstance(found, list) and numberrows.lists(found):
        return 0.9 if named else 0.0
    return 0.9 if any(named or RESULT.search(name) for name in _metrics(found, path)) else 0.0


def _metrics(found: object, path: Path) -> Iterable[str]:
    """The names of the numbers in a dictionary of lists, or in the first of the rows."""
    if isinstance(found, dict):
        return number_lists(found, path)
    rows = _rows(found)
    return [name for name, leaf in values(rows[0]) if type(leaf) in (int, float)] if rows else ()


def _rows(found: object) -> list[dict[str, Any]]:
    """The dictionaries of a list that begins with one."""
    if not isinstance(found, list) or not found or not isinstance(found[0], dict):
        return []
    return [row for row in found if isinstance(row, dict)]


def read(path: Path) -> Iterator[Tables]:
    """The points of the history; a gap where it is refused or holds none. Raises OSError."""
    size = path.stat().st_size
    if size > picklednumbers.MAX_BYTES:
        why = f"larger than {picklednumbers.MAX_BYTES >> 20} MiB"
        yield Tables(gaps=gap(path, f"a pickle that is not read ({why}): {EXPORT}", 0, size))
        return
    try:
        found = picklednumbers.loads(whole(path))
    except RefusedError as error:
        yield Tables(gaps=gap(path, f"a pickle that is not read ({error}): {EXPORT}", 0, size))
        return
    yield from _tables(path, found.value)
    for what in found.lost:
        yield Tables(gaps=gap(path, f"NumPy: {what}"))


def _tables(path: Path, found: object) -> Iterator[Tables]:
    log, rows, lists = Log(path), _rows(found), numberrows.lists(found)
    if isinstance(found, dict) and number_lists(found, path):
        yield from histories.of_lists(log, found)
    elif lists:
        yield from numberrows.tables(path, lists, " ".join(f"{x:g}" for x in lists[0][:4] if x is not None))
    elif rows and not are_named(rows):
        yield from log.records(rows)
        yield log.gap_rows()
    else:
        yield Tables(gaps=gap(path, histories.NAMED if rows else f"a pickle without a history of numbers: {EXPORT}", 0))
