"""A flight recorder's dump as tables: its last operations, and the groups its rank is in."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from math import prod
from typing import Any

import polars as pl

from loganalyst.model import Tables, Time, table
from loganalyst.sources.config import pythoncode

KEPT = 64  # operations of a rank, the last ones; those that are not over are kept besides
_MOST = 1000  # of those
_MOST_TENSORS, _MOST_DIMENSIONS = 1 << 16, 64  # what torch allows an operation and a tensor, and more
_SHOWN = 64  # tensors
_LIBRARY = re.compile(r"[\\/](?:site|dist)-packages[\\/]|/lib/python\d|^<|[\\/]Lib[\\/]")
_INT64 = 1 << 63
Entry = Mapping[str, Any]


def tables(dump: Mapping[str, Any], rank: int | None, file: str, dumped: datetime | None = None) -> Tables:
    """The `collectives` and `process_groups` of one rank, whose dump was written at `dumped` or before."""
    found = dump.get("entries")
    entries = [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []
    last = [e for e in entries[:-KEPT] if not _over(e)][-_MOST:] + entries[-KEPT:]
    groups = _groups(dump, entries, rank, file).with_columns(dumped=pl.lit(dumped, Time))
    return Tables(collectives=_operations(last, rank, file), process_groups=groups)


def _operations(entries: Sequence[Entry], rank: int | None, file: str) -> Any:
    names = [_texts(e.get("process_group"), 2) for e in entries]
    operations = [_text(e.get("profiling_name")) or "" for e in entries]
    inputs, outputs = ([_lists(e.get(f"{side}_sizes")) for e in entries] for side in ("input", "output"))
    return table("collectives", {
        "rank": rank,
        "group": [name for name, _ in names],
        "sequence": [_int(e.get("p2p_seq_id") if _p2p(e) else _sequence(e)) for e in entries],
        "p2p": [_p2p(e) for e in entries],
        "operation": [op.partition(":")[2] or op for op in operations],
        "backend": [op.partition(":")[0] if ":" in op else None for op in operations],
        "state": ["completed" if _over(e) else _text(e.get("state")) for e in entries],
        "input_sizes": [_shapes(shapes) for shapes in inputs],
        "output_sizes": [_shapes(shapes) for shapes in outputs],
        "input_elements": [_elements(shapes) for shapes in inputs],
        "output_elements": [_elements(shapes) for shapes in outputs],
        "dtype": [_dtypes(e) for e in entries],
        "created": [_time(e.get("time_created_ns")) for e in entries],
        "started": [_time(e.get("time_discovered_started_ns")) for e in entries],
        "completed": [_time(e.get("time_discovered_completed_ns")) for e in entries],
        "timeout_s": [ms / 1000 if (ms := _int(e.get("timeout_ms"))) is not None else None for e in entries],
        "frame": [_frame(e.get("frames")) for e in entries],
        "record": [_int(e.get("record_id")) for e in entries],
        "file": file,
    })  # fmt: skip


def _groups(dump: Mapping[str, Any], entries: Sequence[Entry], rank: int | None, file: str) -> Any:
    """One row a group that the configuration or an operation names; one without a group where nothing is named."""
    reached, descriptions = _reached(entries)
    told = _configured(dump.get("pg_config"))
    if set(told) == {""} and reached:  # gloo does not name its groups there; of several it keeps the last one only
        told = {next(iter(reached)): told[""]} if len(reached) == 1 else {}
    names = list(dict.fromkeys([*told, *reached]))
    from_the_start = not entries or any(e.get("record_id") == 0 for e in entries)  # else the first may be overwritten
    settings = [told.get(name, {}) for name in names] or [{}]
    return table("process_groups", {
        "rank": rank,
        "group": names or [None],
        "description": [_text(told.get(n, {}).get("desc")) or descriptions.get(n) for n in names] or [None],
        "members": [_members(s.get("ranks")) for s in settings],
        "enqueued": [reached.get(name, 0 if from_the_start else None) for name in names] or [None],
        "file": file,
    })  # fmt: skip


def _configured(config: object) -> dict[str, dict[str, Any]]:
    found = config.items() if isinstance(config, dict) else ()
    return {str(name): told for name, told in found if isinstance(told, dict)}


def _reached(entries: Sequence[Entry]) -> tuple[dict[str, int], dict[str, str]]:
    """The last sequence number by group, of collectives alone, and the descriptions of groups. The `pg_status` beside
    the entries mixes them with the numbers of point-to-point operations.
    """
    reached: dict[str, int] = {}
    descriptions: dict[str, str] = {}
    for e in entries:
        named = e.get("process_group")
        name = named[0] if isinstance(named, list) and named else None
        if isinstance(name, str):
            number = 0 if _p2p(e) else _int(_sequence(e)) or 0
            if number >= reached.get(name, -1):
                reached[name] = number
            if name not in descriptions:
                descriptions[name] = _texts(named, 2)[1] or ""
    return {name: max(number, 0) for name, number in reached.items()}, descriptions


def _sequence(entry: Entry) -> object:
    return entry.get("collective_seq_id", entry.get("seq_id"))  # before version 2.0 of the format


def _p2p(entry: Entry) -> bool:
    return entry.get("is_p2p") is True


def _over(entry: Entry) -> bool:
    """Whether the operation is over for its rank. gloo never learns the state: it retires what has returned."""
    if entry.get("state") == "completed":
        return True
    return entry.get("retired") is True and (_text(entry.get("profiling_name")) or "").startswith("gloo:")


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object, count: int) -> list[str | None]:
    """The first `count` texts of a list; None for each that is missing."""
    found = [v if isinstance(v, str) else None for v in value[:count]] if isinstance(value, list) else []
    return found + [None] * (count - len(found))


def _lists(value: object) -> list[list[int]] | None:
    """Shapes of tensors, None where they are none that a tensor has."""
    if not isinstance(value, list) or len(value) > _MOST_TENSORS:
        return None
    if not all(isinstance(shape, list) and len(shape) <= _MOST_DIMENSIONS for shape in value):
        return None
    return value if all(_int(size) is not None for shape in value for size in shape) else None


def _shapes(shapes: list[list[int]] | None) -> str | None:
    """`4x16, 8`, each once; a tensor without dimensions is `1`."""
    return None if shapes is None else ", ".join(dict.fromkeys("x".join(map(str, s)) or "1" for s in shapes[:_SHOWN]))


def _elements(shapes: list[list[int]] | None) -> int | None:
    return None if shapes is None else _int(sum(prod(shape) for shape in shapes))


def _dtypes(entry: Entry) -> str | None:
    """Types of elements, each once: `Float`, `BFloat16 -> Float` where they differ between input and output."""
    sides = [entry.get(f"{side}_dtypes") for side in ("input", "output")]
    named = [
        ", ".join(dict.fromkeys(v for v in side if isinstance(v, str))) for side in sides if isinstance(side, list)
    ]
    return " -> ".join(dict.fromkeys(n for n in named if n)) or None


def _time(value: object) -> int | None:
    """Microseconds since 1970, of nanoseconds; JSON has 0 for what did not happen."""
    number = _int(value)
    return number // 1000 if number and 0 < number < 4 * 10**18 else None


def _frame(frames: object) -> str | None:
    """`file:line in function` of the innermost frame that is no library's."""
    if not isinstance(frames, list):
        return None
    told = (
        (_text(f.get("filename")), _int(f.get("line")), _text(f.get("name"))) for f in frames if isinstance(f, dict)
    )
    own = (f for f in told if f[0] is not None and not _LIBRARY.search(f[0]))
    return next((f"{file}:{line} in {name}" for file, line, name in own), None)


def _members(value: object) -> pl.Series | None:
    """Ranks (Int64) as a list, which the recorder writes as text; an empty one tells nothing."""
    if isinstance(value, str):
        return _written(value) if len(value) < 1 << 20 else None
    some = value if isinstance(value, list | tuple | set) else ()
    ranks = sorted({r for r in some if _int(r) is not None})
    return pl.Series(ranks, dtype=pl.Int64) if ranks else None


@lru_cache(16)  # all ranks of a job name the same large groups
def _written(text: str) -> pl.Series | None:
    ranks = pythoncode.value(text)
    return None if isinstance(ranks, str) else _members(ranks)
