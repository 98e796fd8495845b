"""The meanings of the tables of a store and their columns, as `DESCRIBE` prints them."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from loganalyst.features import declared
from loganalyst.store.tablefiles import schema

__all__ = ["TABLES", "Column", "columns"]

TABLES: Mapping[str, str] = {
    "points": "a logged number",
    "distributions": "a logged histogram",
    "lines": "a log line that a pattern matched",
    "blocks": "a traceback, stack or launcher's table of a log",
    "config": "a setting",
    "jobs": "a job or job step, as the scheduler accounts for it",
    "checkpoints": "a checkpoint",
    "collectives": "an operation of a rank in a flight-recorder dump",
    "process_groups": "a group of ranks, as one rank's dump has it",
    "gaps": "a part of a file that could not be used",
    "sessions": "a start of the program",
    "sources": "a file of a run",
    "runs": "a run",
    "features": "a run, with a column for each value that rules can ask for",
    "feature_sources": "the place where a feature's value was seen",
    "findings": "a change in a curve",
    "diagnoses": "the diagnosis of a run, with its first cause",
    "truths": "a truth of a run that a user confirmed",
    "reported": "a finding that `loganalyst scan` reported",
    "verifications": "the outcome of a cause in the run made after a fix",
}

# (unit, meaning) of columns that mean the same in every table; `_OWN` has the exceptions
_SHARED: Mapping[str, tuple[str, str]] = {
    "run_id": ("", "the run: first 12 hexadecimal digits of blake2b of its real path"),
    "session": ("", "start of the program, from 0"),
    "metric": ("", "name of the metric"),
    "step": ("step", "step as the run logged it"),
    "epoch": ("epoch", "pass over the data"),
    "time": ("UTC", "when it was logged or written"),
    "source": ("", "file that it comes from, relative to the run"),
    "file": ("", "file that it comes from, relative to the run"),
    "origin": ("", "file that it comes from, relative to the run"),
    "line": ("", "line of the file, from 1"),
    "offset": ("bytes", "place in the file, from 0"),
    "rank": ("", "rank of the process in the training"),
    "node": ("", "node (host) of the process"),
    "block": ("", "block of the file that it belongs to"),
    "first_line": ("", "first line in the file, from 1"),
    "last_line": ("", "last line in the file, from 1"),
    "path": ("", "path of the run"),
    "label": ("", "class of the fault"),
    "job": ("", "id of the scheduler's job"),
    "started": ("UTC", "when it started"),
    "ended": ("UTC", "when it ended"),
    "frame": ("", "innermost frame of the user's own code: file:line in function"),
    "group": ("", "process group"),
    "cause": ("", "id of the rule"),
    "points": ("rows", "its rows in points"),
    "lines": ("rows", "its rows in lines"),
    "distributions": ("rows", "its rows in distributions"),
}
_OWN: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "points": {"value": ("as logged", "the number; NaN and infinities stay")},
    "distributions": {
        "count": ("values", "how many values"),
        "mean": ("as logged", "mean"),
        "std": ("as logged", "standard deviation"),
        "min": ("as logged", "smallest value"),
        "max": ("as logged", "largest value"),
        "zeros": ("values", "how many are 0"),
        "nonfinite": ("values", "how many are NaN or infinite"),
        "quantiles": ("as logged", "quantiles at 0, 5, 25, 50, 75, 95 and 100 %"),
    },
    "lines": {
        "pattern": ("", "pattern of rules/text that matched"),
        "part": ("", "what the line is to the run: root, consequence, symptom, end, ..."),
        "captures": ("JSON", "captures of the pattern, by name"),
        "text": ("", "the line"),
    },
    "blocks": {
        "block": ("", "number of the block in its file, from 0"),
        "kind": ("", "python, torchrun, ..."),
        "exception": ("", "class of the exception"),
        "message": ("", "message of the exception"),
        "parent": ("", "the block that led to this one"),
        "ranks": ("", "all ranks that printed it"),
        "repeated": ("times", "how often it was printed"),
    },
    "config": {
        "key": ("", "dotted name of the setting"),
        "value": ("", "its value as text"),
        "number": ("", "its value where it is a number"),
    },
    "jobs": {
        "name": ("", "name of the job"),
        "state": ("", "state that the scheduler gave it"),
        "exit_code": ("", "exit code"),
        "signal": ("", "signal that ended it"),
        "elapsed_s": ("s", "wall time it ran"),
        "limit_s": ("s", "wall time it was allowed"),
        "memory_used": ("bytes", "memory of the largest task"),
        "memory_limit": ("bytes", "memory that one node allows"),
        "nodes": ("", "list of its nodes"),
        "node_count": ("nodes", "how many nodes"),
        "tasks": ("tasks", "how many tasks"),
        "cpus": ("CPUs", "how many CPUs"),
        "cpu_s": ("s", "CPU time it used"),
        "gpus": ("GPUs", "how many GPUs"),
        "gpu_use": ("share", "use of its GPUs, from 0 to 1"),
        "reason": ("", "why it waits, in the scheduler's words"),
        "user": ("", "who submitted it"),
        "partition": ("", "partition (queue)"),
    },
    "checkpoints": {
        "path": ("", "path, relative to the run"),
        "step": ("step", "step in its name"),
        "size": ("bytes", "size"),
        "readable": ("", "whether it holds anything"),
    },
    "collectives": {
        "sequence": ("", "number of the operation in its group"),
        "p2p": ("", "whether it is point-to-point"),
        "operation": ("", "name of the operation"),
        "backend": ("", "nccl, gloo, ..."),
        "state": ("", "scheduled, started or completed"),
        "input_sizes": ("", "shapes of its inputs"),
        "output_sizes": ("", "shapes of its outputs"),
        "input_elements": ("elements", "sum over its inputs"),
        "output_elements": ("elements", "sum over its outputs"),
        "dtype": ("", "type of the elements"),
        "created": ("UTC", "when it was scheduled"),
        "completed": ("UTC", "when it was completed"),
        "timeout_s": ("s", "how long the others wait for it"),
        "record": ("", "number of the record in the dump"),
    },
    "process_groups": {
        "description": ("", "name of the group in the program"),
        "members": ("", "all ranks of the group"),
        "enqueued": ("", "last collective of the group that this rank entered"),
        "dumped": ("UTC", "when the dump was written at the latest"),
    },
    "gaps": {"bytes": ("bytes", "extent; NULL where it is not known"), "why": ("", "why it could not be used")},
    "sessions": {"status": ("", "how it ended")},
    "sources": {
        "path": ("", "path, relative to the run"),
        "format": ("", "reader that read it; NULL where none knew it"),
        "bytes": ("bytes", "size"),
    },
    "runs": {
        "name": ("", "name of the run's folder or file"),
        "status": ("", "how the run ended"),
        "formats": ("", "formats of its files, separated by commas"),
        "framework": ("", "framework, as the files name it"),
        "host": ("", "host, as the files name it"),
        "basis": ("", "how files from separate places were joined"),
        "suggested": ("", "job logs that may belong to it"),
        "ignored": ("", "files that were left out on purpose"),
        "settings": ("", "the loganalyst.yaml that is obeyed; empty where there is none"),
        "settings_inside": ("", "whether that file came with the run"),
        "settings_ignored": ("", "settings that came with the run and are not obeyed"),
    },
    "feature_sources": {
        "feature": ("", "name of the feature"),
        "role_confidence": ("share", "how sure the role of the metric is, from 0 to 1; NULL where none is asked"),
    },
    "findings": {
        "role": ("", "role of the metric"),
        "kind": ("", "kind of change: spike, divergence, plateau, ..."),
        "index": ("points", "finite points of the curve before it"),
        "end_step": ("step", "last step of it; NULL where it lasts to the end"),
        "effect": ("noise", "size, in robust standard deviations of the local noise"),
        "significance": ("share", "how certain it is, from 0 to 1"),
    },
    "diagnoses": {
        "status": ("", "diagnosis_complete, cause_unknown, healthy or insufficient_data"),
        "confidence": ("share", "how sure the answer is, from 0 to 1"),
        "issue": ("", "the first cause in words"),
        "severity": ("", "how bad it is"),
        "verdict": ("", "likely, possible, unlikely, unknown or not_applicable"),
        "says": ("", "strongest evidence for it"),
        "why": ("", "why the run could not be judged"),
        "restart": ("", "restart, restart_elsewhere, do_not_restart or unknown; NULL where the run was not broken off"),
        "origin": ("", "`ours`, or the file of the rule or pattern that is not ours"),
        "accepted": ("", "causes that settings accept"),
        "settings_obeyed": ("", "files and folders of the user that had a say, each with its content in short"),
        "settings_ignored": ("", "settings that came with the run and are not obeyed"),
        "json": ("JSON", "the whole diagnosis"),
        "version": ("", "version of the program and its rules"),
        "reading": ("", "stamp of the reading that was judged"),
    },
    "truths": {"note": ("", "note of the user"), "time": ("UTC", "when it was confirmed")},
    "reported": {"finding": ("", "the finding"), "state": ("", "told, or telling: about to be told")},
    "verifications": {
        "old": ("", "id of the run before the fix"),
        "old_path": ("", "path of the run before the fix"),
        "lineage": ("", "family of runs that both belong to"),
        "outcome": ("", "fixed, partly, not, new_problem or cannot_tell"),
        "applied": ("", "whether a change was seen that takes the cause back"),
        "fix": ("", "the change"),
    },
}  # fmt: skip


class Column(NamedTuple):
    """A column of a table: its name, type in SQL terms, unit (empty: none) and meaning."""

    column: str
    dtype: str
    unit: str
    meaning: str


def columns(table: str) -> list[Column]:
    """The columns of a table of the store, in order. Raises KeyError for an unknown table.

    >>> [column.unit for column in columns("gaps") if column.column == "bytes"]
    ['bytes']
    """
    known = {**_SHARED, **_OWN.get(table, {})}
    if table == "features":
        known |= {f.name: (f.unit, f.meaning) for f in declared().values()}
    return [Column(name, _sql(dtype), *known[name]) for name, dtype in schema(table).items()]


def _sql(dtype: pl.DataType | type[pl.DataType]) -> str:
    """`Datetime` without its zone, which is UTC in every table; else the name that polars uses."""
    return "Datetime" if dtype == pl.Datetime("us", "UTC") else str(dtype)
