"""`sacct --json`: jobs and their steps as rows of texts, in the layout of any release.

Numbers are plain up to release 22.05 and `{set, infinite, number}` later. A state is a word or a list of words.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

Row = dict[str, str | None]
_JOBS = re.compile(r'"jobs"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")  # between two jobs


def rows(text: str) -> Iterator[Row | str]:
    """One row per job and step, under `sacct`'s field names. A text says where and why reading ended."""
    begin = _JOBS.search(text)
    if begin is None:
        yield "no list of jobs"
        return
    decoder, at = json.JSONDecoder(), _skip(text, begin.end())
    while not text.startswith("]", at):
        try:
            job, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield f"not valid JSON from character {at} on: {type(error).__name__}"
            return
        yield from _job(job)
        at = _skip(text, at)


def _skip(text: str, at: int) -> int:
    hit = _BETWEEN.match(text, at)
    return hit.end() if hit else at


def _job(job: Any) -> Iterator[Row | str]:
    if (number := _number(_at(job, "job_id"))) is None:
        yield "a job without job_id"
        return
    id_ = _id(job, number)
    yield {
        **_common(job, id_),
        "JobName": _text(_at(job, "name")),
        "NodeList": _text(_at(job, "nodes")),
        "NNodes": _text(_number(_at(job, "allocation_nodes"))),
        "TimelimitRaw": _text(_number(_at(job, "time", "limit"))),
        "ReqMem": f"{memory}M" if (memory := _memory(_at(job, "tres", "requested"))) is not None else None,
        "ReqTRES": _resources(_at(job, "tres", "requested")),
        "ReqCPUS": _text(_number(_at(job, "required", "CPUs"))),
        "MaxRSS": None,
        "Reason": _text(_at(job, "state", "reason")),
        "User": _text(_at(job, "user")) or _text(_at(job, "association", "user")),
        "Partition": _text(_at(job, "partition")),
    }
    steps = _at(job, "steps")
    for step in steps if isinstance(steps, list) else []:
        yield _step(step, id_)


def _id(job: Any, number: int) -> str:
    """`32_2` for a task of an array, `32_[4-9%2]` for waiting tasks, `50+1` for a part of a heterogeneous job."""
    array, task, waiting = _number(_at(job, "array", "job_id")), _at(job, "array", "task_id"), _at(job, "array", "task")
    if array and (task := _number(task)) is not None:
        return f"{array}_{task}"
    if array and isinstance(waiting, str) and waiting:
        return f"{array}_[{waiting}]"
    whole, part = _number(_at(job, "het", "job_id")), _number(_at(job, "het", "job_offset"))
    return f"{whole}+{part}" if whole and part is not None else str(number)


def _step(step: Any, job: str) -> Row:
    name = _at(step, "step", "id")
    part = _at(name, "step_id") if isinstance(name, dict) else name
    return {
        **_common(step, f"{job}.{(_text(part) or '').rpartition('.')[2]}"),
        "JobName": _text(_at(step, "step", "name")),
        "NodeList": _text(_at(step, "nodes", "range")),
        "NNodes": _text(_number(_at(step, "nodes", "count"))),
        "TimelimitRaw": None,
        "ReqMem": None,
        "MaxRSS": _text(_memory(_at(step, "tres", "requested", "max"))),
        "NTasks": _text(_number(_at(step, "tasks", "count"))),
        "TRESUsageInTot": _resources(_at(step, "tres", "requested", "total")),
        "TRESUsageInAve": _resources(_at(step, "tres", "requested", "average")),
    }


def _common(node: Any, id_: str) -> Row:
    return {
        "JobID": id_,
        "State": (state := _state(node)),
        "ExitCode": _exit(_at(node, "exit_code"), failed=state == "FAILED"),
        "Start": _iso(_number(_at(node, "time", "start"))),
        "End": _iso(_number(_at(node, "time", "end"))),
        "ElapsedRaw": _text(_number(_at(node, "time", "elapsed"))),
        "TotalCPU": _processor_time(_at(node, "time", "total")),
        "AllocTRES": (allocated := _resources(_at(node, "tres", "allocated"))),
        "AllocCPUS": hit[1] if (hit := re.search(r"(?<![^,])cpu=(\d+)", allocated or "")) else None,
    }


def _state(node: Any) -> str | None:
    state = _at(node, "state")
    state = _at(state, "current") if isinstance(state, dict) else state
    state = state[0] if isinstance(state, list) and state else state
    by = _text(_at(node, "kill_request_user"))
    return f"CANCELLED by {by}" if state == "CANCELLED" and by else _text(state)


def _exit(code: Any, *, failed: bool) -> str | None:
    """`exit code:signal`, as `sacct -P` prints it. Release 22.05 writes SUCCESS and 0 for failed jobs: unknown."""
    status = _number(_at(code, "return_code"))
    signal = _number(_at(code, "signal", "signal_id"))
    signal = _number(_at(code, "signal", "id")) if signal is None else signal
    unknown = not status and not signal if failed else status is None and signal is None
    return None if unknown else f"{status or 0}:{signal or 0}"


def _processor_time(total: Any) -> str | None:
    whole, parts = _number(_at(total, "seconds")), _number(_at(total, "microseconds"))
    return None if whole is None else f"0:{whole + (parts or 0) / 1e6:.6f}"


def _resources(tres: Any) -> str | None:
    """A list of trackable resources as `sacct -P` prints it: `cpu=4,mem=100M,gres/gpu=2` (memory is in MB)."""
    entries = tres if isinstance(tres, list) else ()
    names = ("/".join(filter(None, (_text(_at(e, "type")), _text(_at(e, "name"))))) for e in entries)
    counts = (_number(_at(e, "count")) for e in entries)
    known = [(name, count) for name, count in zip(names, counts, strict=True) if count is not None]
    return ",".join(f"{name}={count}" + "M" * (name == "mem") for name, count in known) or None


def _memory(tres: Any) -> int | None:
    """The count of the entry `mem` in a list of trackable resources."""
    entries = tres if isinstance(tres, list) else ()
    found = (_number(_at(entry, "count")) for entry in entries if _at(entry, "type") == "mem")
    return next((count for count in found if count is not None), None)


def _at(node: Any, *keys: str) -> Any:
    """The node under some keys; None if there is none."""
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _number(node: Any) -> int | None:
    if isinstance(node, dict):
        return _number(node.get("number")) if node.get("set") and not node.get("infinite") else None
    return node if isinstance(node, int) and not isinstance(node, bool) else None


def _text(value: Any) -> str | None:
    return str(value).encode("utf-8", "replace").decode() if isinstance(value, str | int) and value != "" else None


def _iso(seconds: int | None) -> str | None:
    if not seconds or not 0 < seconds < 253_402_300_800:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
