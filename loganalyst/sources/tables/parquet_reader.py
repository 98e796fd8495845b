"""Parquet tables of metrics: exported W&B histories, and any table with a column of steps, epochs or times.

A row is a logged step, and a numeric column is a metric; in a long table a text column names the metric. Fields of a
struct become columns, joined with ``/``. Lists (histograms), texts and booleans become a gap. NULL is no value; NaN is
one. Columns are read a few at a time and rows window by window, so that large row groups need little memory.

A damaged page can make polars allocate without limit and abort the process. So polars runs in a process of its own.
If that dies, another continues without the column that was being read.
Format: https://parquet.apache.org/docs/file-format/
"""

from collections.abc import Collection, Iterator
from pathlib import Path

from loganalyst.model import Tables
from loganalyst.opening import checked, opened
from loganalyst.processes import streams
from loganalyst.processes.worker import DiedError
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.tables.parquettable import DAMAGE, Event, ParquetTable, Place, short_error

NAME = "parquet"

WINDOW = 1 << 17  # rows read at once
MAX_BATCH_VALUES = 1 << 18
MAX_DEATHS = 12  # decoder processes per file that may die before the rest is given up
_ENDS = {b"PAR1": "", b"PARE": "encrypted"}  # the last four bytes of a file, and what is wrong with it


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How sure it is that the file is Parquet: it begins with one of the magic numbers."""
    return 0.9 if head[:4] in _ENDS else 0.0


def read(path: Path, *, window: int = WINDOW, max_deaths: int = MAX_DEATHS) -> Iterator[Tables]:
    """The table's points, window by window and within it column by column; gaps for what cannot be read."""
    checked(path)  # here, because the other process opens the file
    place, fatal, broken = Place(), set[str](), dict[str, str]()
    for left in range(max_deaths, 0, -1):
        try:
            for event in streams.stream(__name__, "tables", path, window, place, fatal):
                if isinstance(event, Tables):
                    yield event
                elif isinstance(event, Place):
                    place = event
                else:
                    broken.setdefault(*event)
            break
        except DiedError as died:
            if not place.columns or left == 1:
                why = f"Parquet: damaged so that its decoder ended ({died}); what it had read before is kept"
                yield Tables(gaps=gap(path, why, 0, path.stat().st_size))
                break
            if len(place.columns) == 1:
                (name,) = place.columns
                fatal.add(name)
                broken[name] = f"column {name!r} from row {place.row:,} on: its decoder ended ({died})"
    for why in broken.values():
        yield Tables(gaps=gap(path, why))


def tables(
    path: Path, window: int, begin: Place, fatal: Collection[str], *, batch_values: int = MAX_BATCH_VALUES
) -> Iterator[Event]:
    """Decode from `begin` on, `window` rows at a time, without the `fatal` metrics. This runs in a process of its own.

    Damaged data may end the process, so each Place is sent before it is read, and each Broken as soon as it is found.
    """
    if why := _end(path):
        yield Tables(gaps=gap(path, why, 0, path.stat().st_size))
        return
    try:
        table = ParquetTable(path, window, batch_values)
        if why := table.refused():
            yield Tables(gaps=gap(path, why, 0, path.stat().st_size))
            return
        yield from table.windows(begin, fatal)
    except DAMAGE as error:
        yield Tables(gaps=gap(path, f"Parquet: {short_error(error)}", 0, path.stat().st_size))
        return
    yield from table.left_out()


def _end(path: Path) -> str:
    """What is wrong with the end of the file, which holds its metadata (empty: nothing)."""
    with opened(path) as file:
        file.seek(max(path.stat().st_size - 4, 0))
        end = file.read()
    return _ENDS.get(end, "Parquet without its end: cut off, nothing of it can be found")
