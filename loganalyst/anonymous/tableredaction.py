"""Removes everything that identifies anybody from the tables of a run; each column has a stated treatment.

A written value is a number, a time relative to the run's first, a word of a closed list, or a replaced name. Documents
that are read get the same treatment, so that no text of their authors passes.
"""

import json
import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any

import polars as pl

from loganalyst.anonymous import vocabulary
from loganalyst.anonymous.aliases import Names
from loganalyst.model import table


class Becomes(Enum):
    """The treatment of a column."""

    SAME = auto()  # numbers and truth values
    SINCE = auto()  # times, relative to the run's first
    METRIC = auto()
    FILE = auto()
    NODE = auto()
    JOB = auto()
    GROUP = auto()
    PATTERN = auto()  # id, label or part of a pattern of the catalogue
    CAPTURES = auto()
    EXCEPTION = auto()
    BLOCK = auto()
    STATE = auto()
    REASON = auto()
    OPERATION = auto()
    SHAPES = auto()
    GAP = auto()
    WORD = auto()  # words that loganalyst itself produces: `finished`, `completed`
    NOTHING = auto()


B = Becomes
_LINE = {"session": B.SAME, "file": B.FILE, "time": B.SINCE, "rank": B.SAME, "node": B.NODE, "block": B.SAME}
COLUMNS: Mapping[str, Mapping[str, Becomes]] = {
    "points": {
        "session": B.SAME, "metric": B.METRIC, "step": B.SAME, "epoch": B.SAME, "time": B.SINCE, "value": B.SAME,
        "source": B.FILE, "line": B.SAME,
    },
    "distributions": {
        "session": B.SAME, "metric": B.METRIC, "step": B.SAME, "time": B.SINCE, "count": B.SAME, "mean": B.SAME,
        "std": B.SAME, "min": B.SAME, "max": B.SAME, "zeros": B.SAME, "nonfinite": B.SAME, "quantiles": B.SAME,
        "source": B.FILE,
    },
    "lines": {
        **_LINE, "line": B.SAME, "offset": B.NOTHING, "pattern": B.PATTERN, "label": B.PATTERN, "part": B.PATTERN,
        "captures": B.CAPTURES, "text": B.NOTHING,
    },
    "blocks": {
        **_LINE, "kind": B.BLOCK, "first_line": B.SAME, "last_line": B.SAME, "offset": B.NOTHING,
        "exception": B.EXCEPTION, "message": B.NOTHING, "frame": B.NOTHING, "parent": B.SAME, "ranks": B.SAME,
        "repeated": B.SAME,
    },
    "jobs": {
        "job": B.JOB, "name": B.NOTHING, "state": B.STATE, "exit_code": B.SAME, "signal": B.SAME, "started": B.SINCE,
        "ended": B.SINCE, "elapsed_s": B.SAME, "limit_s": B.SAME, "memory_used": B.SAME, "memory_limit": B.SAME,
        "nodes": B.NOTHING, "node_count": B.SAME, "tasks": B.SAME, "cpus": B.SAME, "cpu_s": B.SAME, "gpus": B.SAME,
        "gpu_use": B.SAME, "reason": B.REASON, "user": B.NOTHING, "partition": B.NOTHING, "origin": B.FILE,
    },
    "checkpoints": {"path": B.FILE, "step": B.SAME, "size": B.SAME, "time": B.SINCE, "readable": B.SAME},
    "collectives": {
        "rank": B.SAME, "group": B.GROUP, "sequence": B.SAME, "p2p": B.SAME, "operation": B.OPERATION,
        "backend": B.OPERATION, "state": B.WORD, "input_sizes": B.SHAPES, "output_sizes": B.SHAPES,
        "input_elements": B.SAME, "output_elements": B.SAME, "dtype": B.OPERATION, "created": B.SINCE,
        "started": B.SINCE, "completed": B.SINCE, "timeout_s": B.SAME, "frame": B.NOTHING, "record": B.SAME,
        "file": B.FILE,
    },
    "process_groups": {
        "rank": B.SAME, "group": B.GROUP, "description": B.OPERATION, "members": B.SAME, "enqueued": B.SAME,
        "dumped": B.SINCE, "file": B.FILE,
    },
    "gaps": {"file": B.FILE, "offset": B.SAME, "bytes": B.SAME, "why": B.GAP},
    "sessions": {
        "session": B.SAME, "source": B.FILE, "first_line": B.SAME, "last_line": B.SAME, "started": B.SINCE,
        "ended": B.SINCE, "status": B.WORD, "job": B.JOB,
    },
}  # fmt: skip
WORDS = frozenset(
    [
        "finished",
        "stopped_early",
        "failed",
        "killed",
        "preempted",
        "cancelled",
        "timeout",
        "node_fail",
        "running",
        "unknown",
        "scheduled",
        "started",
        "completed",
    ]
)
_SHAPES = re.compile(r"[\d\[\](), ]{1,400}")  # `[[4, 1024], [1024]]`
_QUANTITY = re.compile(r"\d{1,15}(?:\.\d{1,6})?(?: ?[KMGT]i?B)?|[KMGT]?i?B")  # `1.12 GiB`
_PLAIN = re.compile(r"[\w.:,\[\]+/ -]{1,80}", re.ASCII)  # `torch.optim.AdamW`, `[Float, Float]`
_SEPARATOR = re.compile(r"[^a-z0-9_]+")  # the commas and brackets of `[float, float]`
_COUNT = re.compile(r"^[\d,]+ ")  # `5,192 more lines like ...`
_STEP_OF_JOB = re.compile(r"(?:batch|extern|interactive|\d{1,4})")  # `48104.batch`


def anonymous(name: str, rows: pl.DataFrame, names: Names) -> pl.DataFrame:
    """The rows of table `name` with their treatments applied; times stay unchanged."""
    if name == "config":
        return _settings(rows, names)
    treatment = COLUMNS[name]
    kept = [key for key in rows.columns if treatment[key] is not B.NOTHING]
    columns = {key: _column(rows[key], treatment[key], names) for key in kept}
    if name == "lines":
        columns["text"] = pl.Series("text", [""] * rows.height, dtype=pl.String)
    return table(name, columns) if rows.height else rows


def _column(values: pl.Series, becomes: Becomes, names: Names) -> pl.Series:
    if becomes in (B.SAME, B.SINCE):
        return values
    replaced = {value: _replaced(value, becomes, names) for value in values.unique(maintain_order=True).drop_nulls()}
    return values.replace_strict(replaced, default=None, return_dtype=pl.String) if replaced else values


def _replaced(value: str, becomes: Becomes, names: Names) -> str | None:
    kinds: Mapping[Becomes, Callable[[str], str | None]] = {
        B.METRIC: names.metric,
        B.FILE: lambda v: names.counted("file", v),
        B.NODE: lambda v: names.counted("node", v),
        B.GROUP: lambda v: _if_allowed(v, "operations") or names.counted("group", v),
        B.JOB: lambda v: job(v, names),
        B.PATTERN: lambda v: v if v in vocabulary.patterns() else "own",
        B.CAPTURES: _captures,
        B.EXCEPTION: _exception,
        B.BLOCK: lambda v: _if_allowed(v, "blocks"),
        B.STATE: lambda v: _if_allowed(v.partition(" ")[0], "job_states"),
        B.REASON: lambda v: _if_allowed(v, "job_reasons"),
        B.OPERATION: _operation,
        B.SHAPES: lambda v: v if _SHAPES.fullmatch(v) else None,
        B.GAP: gap,
        B.WORD: lambda v: v if v in WORDS else None,
    }
    return kinds[becomes](value)


def _if_allowed(value: str, name: str) -> str | None:
    return value if value in vocabulary.allowed(name) else None


def _operation(value: str) -> str | None:
    """A collective, a back end or a type: `nccl:all_reduce`, `BFloat16`, `[Float, Float]`."""
    parts = [part for part in _SEPARATOR.split(value.lower()) if part]
    known = vocabulary.allowed("operations") | vocabulary.allowed("values")
    return value if _PLAIN.fullmatch(value) and parts and all(part in known for part in parts) else None


def job(value: str, names: Names) -> str:
    """A replaced job id: `48104.batch` becomes `1.batch`, because the step shows how the job ended."""
    id_, _, step = value.partition(".")
    number = names.counted("job", id_).removeprefix("job")
    return f"{number}.{step}" if _STEP_OF_JOB.fullmatch(step) else number


def _exception(value: str) -> str | None:
    """The class without its module if it is a common one, else `Error`."""
    name = value.rpartition(".")[2]
    return name if name in vocabulary.allowed("exceptions") else "Error"


def _captures(value: str) -> str | None:
    """The captures of a pattern that are quantities, exceptions, operations or texts of trainers."""
    try:
        captures = json.loads(value)
    except ValueError:
        return None
    kept = {}
    for key, text in captures.items() if isinstance(captures, dict) else ():
        if not isinstance(text, str):
            continue
        if key == "exception":
            kept[key] = _exception(text)
        elif key == "witness" and text in vocabulary.witnesses():
            kept[key] = text
        elif key in ("op", "operation") and (operation := _operation(text)):
            kept[key] = operation
        elif key in vocabulary.allowed("captures") and _QUANTITY.fullmatch(text):
            kept[key] = text
    return json.dumps(kept) if kept else None


def gap(why: str) -> str:
    """The reason of a gap without its quotations."""
    text = _COUNT.sub("", why)
    return next((known for known in vocabulary.gaps() if text.startswith(known)), "another reason")


def _settings(config: pl.DataFrame, names: Names) -> pl.DataFrame:
    """The settings with a known end and a value that is a number, a truth value or words of a closed list."""
    rows: list[dict[str, Any]] = []
    for row in config.iter_rows(named=True):
        key = names.key(row["key"]) if row["key"] else None
        value = _value(row["value"], row["number"])
        if key is not None and value is not None:
            origin = names.counted("file", row["origin"]) if row["origin"] else None
            rows.append({"key": key, "value": value, "number": row["number"], "origin": origin})
    return pl.DataFrame(rows, schema=config.schema)


def _value(value: str | None, number: float | None) -> str | None:
    if number is not None:
        return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)
    if value is None or not _PLAIN.fullmatch(value):
        return None
    parts = [part for part in _SEPARATOR.split(value.lower()) if part]
    known = vocabulary.allowed("values") | {"true", "false", "null", "none", "yes", "no"}
    return value if parts and all(part in known for part in parts) else None
