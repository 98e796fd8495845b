"""A flight recorder's dump as tables: the last operations of a rank, and its process groups."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from math import prod
from typing import Any

import polars as pl

from loganalyst.model import Tables, Time, table
from loganalyst.sources.config import pythoncode

MAX_LAST = 64  # of the last operations of a rank are kept, and earlier ones that are not over
_MAX_NOT_OVER = 1000  # of the earlier ones
_MAX_TENSORS, _MAX_DIMENSIONS = 1 << 16, 64  # of an operation and of a tensor; torch allows fewer
_MAX_SHAPES_SHOWN = 64
# paths of library code: /site-packages/, /lib/python3.11, <frozen importlib>
_LIBRARY = re.compile(r"[\\/](?:site|dist)-packages[\\/]|/lib/python\d|^<|[\\/]Lib[\\/]")
_INT64 = 1 << 63
Entry = Mapping[str, Any]


def tables(dump: Mapping[str, Any], rank: int | None, file: str, dumped: datetime | None = None) -> Tables:
    """The `collectives` and `process_groups` of one rank, whose dump was written no later than `dumped`."""
    found = dump.get("entries")
    entries = [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []
    last = [e for e in entries[:-MAX_LAST] if not _over(e)][-_MAX_NOT_OVER:] + entries[-MAX_LAST:]
    groups = _groups(dump, entries, rank, file).with_columns(dumped=pl.lit(dumped, Time))
    return Tables(collectives=_operations(last, rank, file), process_groups=groups)


def _operations(entries: Sequence[Entry], rank: int | None, file: str) -> Any:
    names = [_texts(e.get("process_group"), 2) for e in entries]
    operations = [_text(e.get("profiling_name")) or "" for e in entries]
    inputs, outputs = ([_valid_shapes(e.get(f"{side}_sizes")) for e in entries] for side in ("input", "output"))
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
    """One row per group that the configuration or an operation names; if there is none, one row without a group."""
    reached, descriptions = _reached(entries)
    configured = _configured(dump.get("pg_config"))
    if set(configured) == {""} and reached:  # gloo does not name its groups here, and keeps only the last one
        configured = {next(iter(reached)): configured[""]} if len(reached) == 1 else {}
    names = list(dict.fromkeys([*configured, *reached]))
    from_the_start = not entries or any(e.get("record_id") == 0 for e in entries)  # else some were overwritten
    settings = [configured.get(name, {}) for name in names] or [{}]
    return table("process_groups", {
        "rank": rank,
        "group": names or [None],
        "description": [_text(configured.get(n, {}).get("desc")) or descriptions.get(n) for n in names] or [None],
        "members": [_members(s.get("ranks")) for s in settings],
        "enqueued": [reached.get(name, 0 if from_the_start else None) for name in names] or [None],
        "file": file,
    })  # fmt: skip


def _configured(config: object) -> dict[str, dict[str, Any]]:
    found = config.items() if isinstance(config, dict) else ()
    return {str(name): group for name, group in found if isinstance(group, dict)}


def _reached(entries: Sequence[Entry]) -> tuple[dict[str, int], dict[str, str]]:
    """The last sequence number of each group's collectives, and the descriptions of groups.

    The `pg_status` of the dump is not used: it mixes these numbers with those of point-to-point operations.
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
    return entry.get("collective_seq_id", entry.get("seq_id"))  # seq_id: before version 2.0 of the format


def _p2p(entry: Entry) -> bool:
    return entry.get("is_p2p") is True


def _over(entry: Entry) -> bool:
    """Whether the operation is over for its rank. gloo never sets the state; it retires operations that returned."""
    if entry.get("state") == "completed":
        return True
    return entry.get("retired") is True and (_text(entry.get("profiling_name")) or "").startswith("gloo:")


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object, count: int) -> list[str | None]:
    """The first `count` texts of a list, None for each missing one."""
    found = [v if isinstance(v, str) else None for v in value[:count]] if isinstance(value, list) else []
    return found + [None] * (count - len(found))


def _valid_shapes(value: object) -> list[list[int]] | None:
    """Shapes of tensors; None if they are not valid shapes."""
    if not isinstance(value, list) or len(value) > _MAX_TENSORS:
        return None
    if not all(isinstance(shape, list) and len(shape) <= _MAX_DIMENSIONS for shape in value):
        return None
    return value if all(_int(size) is not None for shape in value for size in shape) else None


def _shapes(shapes: list[list[int]] | None) -> str | None:
    """`4x16, 8`: each shape once; a tensor without dimensions is `1`."""
    texts = ("x".join(map(str, shape)) or "1" for shape in (shapes or [])[:_MAX_SHAPES_SHOWN])
    return None if shapes is None else ", ".join(dict.fromkeys(texts))


def _elements(shapes: list[list[int]] | None) -> int | None:
    return None if shapes is None else _int(sum(prod(shape) for shape in shapes))


def _dtypes(entry: Entry) -> str | None:
    """Element types, each once: `Float`, or `BFloat16 -> Float` if input and output differ."""
    sides = [entry.get(f"{side}_dtypes") for side in ("input", "output")]
    named = [
        ", ".join(dict.fromkeys(v for v in side if isinstance(v, str))) for side in sides if isinstance(side, list)
    ]
    return " -> ".join(dict.fromkeys(n for n in named if n)) or None


def _time(value: object) -> int | None:
    """Nanoseconds since 1970 as microseconds; JSON dumps have 0 for events that did not happen."""
    number = _int(value)
    return number // 1000 if number and 0 < number < 4 * 10**18 else None


def _frame(frames: object) -> str | None:
    """`file:line in function` of the innermost frame outside libraries."""
    if not isinstance(frames, list):
        return None
    found = ((_text(f.get("filename")), f.get("line"), f.get("name")) for f in frames if isinstance(f, dict))
    users = (f for f in found if f[0] is not None and not _LIBRARY.search(f[0]))
    return next((f"{file}:{_int(line)} in {_text(name)}" for file, line, name in users), None)


def _members(value: object) -> pl.Series | None:
    """Sorted ranks (Int64), from a list or its text, as the recorder writes it; None for an empty list."""
    if isinstance(value, str):
        return _parsed_members(value) if len(value) < 1 << 20 else None
    some = value if isinstance(value, list | tuple | set) else ()
    ranks = sorted({r for r in some if _int(r) is not None})
    return pl.Series(ranks, dtype=pl.Int64) if ranks else None


@lru_cache(16)  # all ranks of a job have the same large groups
def _parsed_members(text: str) -> pl.Series | None:
    ranks = pythoncode.value(text)
    return None if isinstance(ranks, str) else _members(ranks)
