"""Reads a document back as a run, so that its recipient can diagnose the run again.

A document deserves no more trust than a log. It is decoded by types, and values that the writer would not have written
are dropped.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import polars as pl

from loganalyst.anonymous import tablejson
from loganalyst.anonymous.aliases import Names
from loganalyst.anonymous.anonymousdocument import TABLES, anonymous_sources
from loganalyst.anonymous.featureredaction import features_of, numbered
from loganalyst.anonymous.tableredaction import anonymous, job
from loganalyst.anonymousfiles import SCHEMA
from loganalyst.curves import roles
from loganalyst.errors import SourceError
from loganalyst.model import Run, RunStatus, Source, table
from loganalyst.sources.assemble import run_id

MAX_BYTES = 1 << 30
MAX_SPAN = 10**16  # microseconds, about 300 years


class _Source(msgspec.Struct):
    path: str
    format: str | None
    bytes: int
    points: int = 0
    lines: int = 0


class _Document(msgspec.Struct):
    schema: str
    run: dict[str, str | int | None]
    sources: list[_Source]
    tables: dict[str, list[dict[str, Any]]]
    roles: dict[str, str] = {}
    role_confidence: dict[str, Annotated[float, msgspec.Meta(gt=0, le=1)]] = {}
    features: dict[str, bool | int | float | str] = {}


def load(path: Path) -> Run:
    """The run of a document. Raises SourceError for one that `show --anonymous` would not write."""
    found = _decode(path)
    try:
        tables = {name: _frame(name, found.tables.get(name, [])) for name in TABLES}
    except (KeyError, ValueError, TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise SourceError(path, f"its tables are not valid ({error})", "a document of `show --anonymous`") from None
    names = Names()
    stated = Run(path=path, sources=tuple(Source(**msgspec.structs.asdict(s)) for s in found.sources))
    sources = tuple(anonymous_sources(stated, names))
    clean: dict[str, Any] = {name: anonymous(name, rows, names) for name, rows in tables.items()}
    named = names.metrics()
    return Run(
        **clean,
        id=run_id(path),
        path=path,
        name=path.name,
        sources=sources,
        job=job(job_id, names) if isinstance(job_id := found.run.get("job"), str) else None,
        status=_status(found.run.get("status")),
        started=_time(found.run.get("started")),
        ended=_time(found.run.get("ended")),
        roles={named[m]: role for m, role in found.roles.items() if m in named and role in roles.all_roles()},
        role_confidence={named[m]: p for m, p in found.role_confidence.items() if m in named},
        given=features_of(numbered(found.features), named),
    )


def _status(value: str | int | None) -> RunStatus:
    return next((status for status in get_args(RunStatus) if status == value), "unknown")


def _time(value: str | int | None) -> datetime | None:
    valid = isinstance(value, int) and abs(value) < MAX_SPAN
    return tablejson.START + timedelta(microseconds=value) if valid else None  # type: ignore[arg-type]


def _decode(path: Path) -> _Document:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SourceError(path, "is larger than 1 GiB", "a document of `show --anonymous` is smaller")
        found = msgspec.json.decode(path.read_bytes(), type=_Document)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise SourceError(path, f"cannot be read ({error})", "a document of `show --anonymous`") from None
    if found.schema != SCHEMA:
        raise SourceError(path, f"has the schema {found.schema[:60]!r}", f"{SCHEMA} is read")
    return found


def _frame(name: str, packs: list[dict[str, Any]]) -> pl.DataFrame:
    if any("rows" not in pack for pack in packs):
        raise ValueError(f"{name} has a part without rows")
    if sum(pack["rows"] for pack in packs) > tablejson.MAX_ROWS:
        raise ValueError(f"{name} has more than {tablejson.MAX_ROWS:,} rows")
    parts = [tablejson.unpack(name, pack) for pack in packs]
    return pl.concat(parts) if parts else table(name)
