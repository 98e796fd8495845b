"""Profiles of `py-spy record`, with `--format speedscope` (JSON) or `--format raw` (a stack and its samples a line).

Each thing that the program did is a row of `blocks` of kind `profile`, with its samples as `repeated`.
Source: py-spy 0.4 (`speedscope.rs`, `flamegraph.rs`).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.sources.stackdump import doings, dumpfiles
from loganalyst.sources.stackdump.doings import Done
from loganalyst.sources.stackdump.stacks import Frame, frame
from loganalyst.sources.text.lines import owners

NAME = "profile"
MAX_BYTES = 256 << 20
MAX_ROWS = 200  # rows of one profile, the most frequent first
_SCHEMA = b"speedscope.app/file-format-schema"
# `<module> (train.py:212);train (train.py:121);poll (multiprocessing/connection.py:936) 6200`
_RAW = re.compile(r"^(?P<stack>[^;\n]+(?:;[^;\n]+)*) (?P<samples>\d{1,12})$")
_PLACE = re.compile(r" \([^()]+:\d+\)")  # ` (train.py:121)`
_SNIFFED_LINES = 5


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 (the content decides, not the name)
    """How sure it is that the file is a profile: the schema of speedscope, or stacks with places and samples."""
    if _SCHEMA in head:
        return 0.99
    lines = [line for line in head.decode("utf-8", "replace").split("\n")[:_SNIFFED_LINES] if line.strip()]
    whole_lines = lines[:-1] or lines
    raw = whole_lines and all(_RAW.match(line) for line in whole_lines)
    return 0.95 if raw and all(";" in line and _PLACE.search(line) for line in whole_lines) else 0.0


def read(path: Path) -> Iterator[Tables]:
    """One row of `blocks` for each thing that the program did; content that is no profile becomes a gap."""
    found = dumpfiles.parsed(path, "profile", MAX_BYTES, _things_done)
    if isinstance(found, pl.DataFrame):
        yield Tables(gaps=found)
        return
    rank, node = owners.of_file(path)
    rows = found.most_common(MAX_ROWS)
    yield Tables(blocks=table("blocks", {
        "session": [0] * len(rows), "file": path.name, "kind": "profile", "rank": rank, "node": node,
        "block": list(range(1, len(rows) + 1)), "first_line": 1, "last_line": 1,
        "message": [f"{done.doing or doings.UNKNOWN}: {done.call}" for done, _ in rows],
        "frame": [done.frame for done, _ in rows],
        "repeated": [samples for _, samples in rows],
    }))  # fmt: skip


def _things_done(text: str) -> "Counter[Done]":
    return _counted(_of_speedscope(text) if text.lstrip()[:1] == "{" else _of_raw(text))


def _counted(stacks: Iterator[tuple[tuple[Frame, ...], int]]) -> "Counter[Done]":
    """The samples of each thing that the program did. Frames come from the outermost."""
    by_stack = Counter[tuple[Frame, ...]]()
    for frames, samples in stacks:
        by_stack[frames] += samples
    found = Counter[Done]()
    for frames, samples in by_stack.items():
        found[doings.of_frames(frames[::-1])] += samples
    return found


def _of_raw(text: str) -> Iterator[tuple[tuple[Frame, ...], int]]:
    for line in text.split("\n"):
        if hit := _RAW.match(line):
            frames = (frame(name) for name in hit["stack"].split(";"))
            yield tuple(one for one in frames if one), int(hit["samples"])


def _of_speedscope(text: str) -> Iterator[tuple[tuple[Frame, ...], int]]:
    document: dict[str, Any] = json.loads(text)
    known = [
        Frame(str(one.get("name")), str(one.get("file") or ""), str(one.get("line") or ""))
        for one in document["shared"]["frames"]
    ]
    for profile in document["profiles"]:
        for sample in profile.get("samples", ()):
            yield tuple(known[int(i)] for i in sample), 1
