"""Dumps of the stacks of running processes: py-spy (text, `--json`, `--native`) and faulthandler in a file of its own.

Each process is a row of `blocks` of kind `stack`. Sources: py-spy 0.4 (`dump.rs`), Python 3.11 (`faulthandler.c`).
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.sources.stackdump import doings, dumpfiles, stacks
from loganalyst.sources.text.lines import owners

NAME = "stackdump"
MAX_BYTES = 64 << 20
_HEAD_LINES = 40  # lines in which a dump names its first thread
_JSON_KEYS = (b'"thread_id"', b'"frames"', b'"short_filename"')


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 (the content decides, not the name)
    """How sure it is that the file is a dump: py-spy's JSON, or nothing before its first process or thread."""
    if head.lstrip()[:1] == b"[" and all(key in head for key in _JSON_KEYS):
        return 0.99
    lines = head.decode("utf-8", "replace").split("\n")[:_HEAD_LINES]
    first = next((line for line in lines if line.strip()), "")
    begins = stacks.PROCESS.match(first) or stacks.THREAD.match(first)
    return 0.95 if begins and any(stacks.THREAD.match(line) for line in lines) else 0.0


def read(path: Path) -> Iterator[Tables]:
    """One row of `blocks` for each process; content that is no dump becomes a gap."""
    found = dumpfiles.parsed(path, "dump of stacks", MAX_BYTES, _processes)
    if isinstance(found, pl.DataFrame):
        yield Tables(gaps=found)
        return
    rank, node = owners.of_file(path)
    rows = [(process, doings.done(process)) for process in found]
    yield Tables(blocks=table("blocks", {
        "session": [0] * len(rows), "file": path.name, "kind": "stack", "node": node, "repeated": 1,
        "block": list(range(1, len(rows) + 1)),
        "first_line": [p.first_line for p, _ in rows], "last_line": [p.last_line for p, _ in rows],
        "rank": [rank if rank is not None and len(rows) == 1 else p.rank for p, _ in rows],
        "message": [f"{done.doing or doings.UNKNOWN}: {done.call}" for _, done in rows],
        "frame": [done.frame for _, done in rows],
    }))  # fmt: skip


def _processes(text: str) -> list[stacks.Process]:
    return list((stacks.of_json if text.lstrip()[:1] == "[" else stacks.of_text)(text))
