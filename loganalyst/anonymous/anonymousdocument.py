"""Writes the document of one run: curves, settings and features without names, paths and text, and the diagnosis."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

import polars as pl

from loganalyst import __version__
from loganalyst.anonymous import tablejson, vocabulary
from loganalyst.anonymous.aliases import Names
from loganalyst.anonymous.clocks import without_dates
from loganalyst.anonymous.featureredaction import features_of
from loganalyst.anonymous.tableredaction import COLUMNS, anonymous, job
from loganalyst.anonymousfiles import SCHEMA
from loganalyst.curves import roles
from loganalyst.curves.rolefile import role_file
from loganalyst.errors import LogAnalystError
from loganalyst.model import Diagnosis, Run, Source

ABOUT = "Curves and settings of a training run, without names, paths and text. Look at it before you send it."
TABLES = (*COLUMNS, "config")
BY_CURVE = ("points", "distributions")  # tables with one line of the document per metric and file
_HOSTS = (
    "host",
    "hostname",
    "user",
    "username",
    "entity",
    "project",
    "author",
    "email",
)  # ends of keys whose values name people, machines or projects


def document(diagnosis: Diagnosis) -> dict[str, Any]:
    """The document as data for JSON. Raises LogAnalystError for a run of more than 20 million points.


    >>> import loganalyst as la
    >>> found = document(la.diagnose("fixtures/runs/nan-lr"))
    >>> found["diagnosis"]["causes"][0]["id"]
    'lr-too-high'
    >>> [source["path"] for source in found["sources"]]
    ['file1', 'file2', 'file3']
    """
    if diagnosis.run.points.height > tablejson.MAX_ROWS:
        what = f"has {diagnosis.run.points.height:,} points"
        raise LogAnalystError(
            diagnosis.run.path, what, f"a document holds {tablejson.MAX_ROWS:,}: name one file of the run"
        )
    run, names = diagnosis.run, Names(_identities(diagnosis.run))
    sources = [asdict(source) for source in anonymous_sources(run, names)]
    dated, first = _dated(run)
    tables = {name: anonymous(name, rows, names) for name, rows in dated.items()}
    named = names.metrics()
    return {
        "schema": SCHEMA,
        "about": ABOUT,
        "loganalyst": __version__,
        "run": {
            "status": run.status,
            "job": job(run.job, names) if run.job else None,
            "started": tablejson.microseconds(run.started, first),
            "ended": tablejson.microseconds(run.ended, first),
        },
        "sources": sources,
        "roles": _roles({named[m.name]: m.role for m in diagnosis.metrics if m.name in named}),
        "role_confidence": {
            named[m.name]: m.role_confidence for m in diagnosis.metrics if m.name in named and m.role_unsure
        },
        "tables": {name: [*_pack(name, rows)] for name, rows in tables.items() if rows.height},
        "features": {k: tablejson.plain(v) for k, v in features_of(diagnosis.features.values, named).items()},
        "diagnosis": _diagnosis_ids(diagnosis),
    }


def render(diagnosis: Diagnosis) -> str:
    """The document as JSON, with one line per curve."""
    return _layout(document(diagnosis)) + "\n"


def _layout(data: Any, depth: int = 0) -> str:
    """JSON with line breaks down to the third level; deeper values stay on one line."""
    if not data or depth == 3 or not isinstance(data, (dict, list)):
        return json.dumps(data, allow_nan=False, ensure_ascii=True)
    space = "\n" + "  " * (depth + 1)
    if isinstance(data, dict):
        inner = [f"{json.dumps(key)}: {_layout(value, depth + 1)}" for key, value in data.items()]
        return "{" + space + f",{space}".join(inner) + "\n" + "  " * depth + "}"
    return (
        "[" + space + f",{space}".join(json.dumps(value, allow_nan=False) for value in data) + "\n" + "  " * depth + "]"
    )


def anonymous_sources(run: Run, names: Names) -> Iterator[Source]:
    """The numbered files with format, size and number of rows."""
    known = vocabulary.allowed("formats")
    for s in run.sources:
        path, format_ = names.counted("file", s.path), s.format if s.format in known else None
        yield Source(path, format_, s.bytes, s.points, s.lines)


def _identities(run: Run) -> set[str]:
    """Names of people, machines and projects in the run; they are replaced in names of metrics too."""
    jobs = run.jobs.select("name", "user", "partition", "nodes").unpivot()["value"]
    key = pl.col("key").str.split(".").list.last().str.to_lowercase()
    config = run.config.filter(key.is_in(_HOSTS))["value"]
    nodes = [*run.lines["node"].unique(), *run.blocks["node"].unique()]
    names = {*jobs.unique(), *config, *nodes, run.host, run.name, *run.path.absolute().parts}
    return {name for name in names if name}


def _dated(run: Run) -> tuple[dict[str, pl.DataFrame], datetime | None]:
    """The tables with all times and clocks relative to the first time, and that time."""
    tables: dict[str, pl.DataFrame] = {name: getattr(run, name) for name in TABLES}
    tables["points"] = without_dates(tables["points"])
    first = tablejson.first_time(list(tables.values()))
    return {name: tablejson.since_start(rows, first) if first else rows for name, rows in tables.items()}, first


def _pack(name: str, rows: pl.DataFrame) -> Iterable[tablejson.Packed]:
    by = [key for key in ("metric", "source") if name in BY_CURVE]
    parts = rows.partition_by(by, maintain_order=True) if by else [rows]
    return (tablejson.pack(part) for part in parts)


def _roles(stated: Mapping[str, str]) -> dict[str, str]:
    """The roles that do not follow from the names, such as those of the user's loganalyst.yaml, and those that need
    company, which the document may leave out.
    """
    by_name, entries = roles.assign(stated), role_file().roles
    in_company = {name for name, entry in entries.items() if entry.needs}
    return {metric: role for metric, role in stated.items() if by_name[metric][0].name != role or role in in_company}


def _diagnosis_ids(d: Diagnosis) -> dict[str, Any]:
    """The diagnosis as ids of the catalogue; the user's own rules are called `own`."""
    known = vocabulary.rules()
    return {
        "status": d.status,
        "confidence": d.confidence,
        "causes": [
            {"id": c.id if c.id in known else "own", "confidence": c.confidence, "verdict": c.verdict} for c in d.causes
        ],
        "symptoms": [s.id if s.id in known else "own" for s in d.symptoms],
    }
