"""Metrics in JSON.

Forms: one object per line (detectron2, mmengine, DETR, Ray Tune …), a list of objects, a Hugging Face trainer state,
lists of numbers by metric (Keras' History), and the forms of `jsonfolded`. Nested names are joined with ``/``. Bare NaN
and Infinity are numbers. true, false and texts are not metrics.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from loganalyst.model import Tables
from loganalyst.opening import opened, whole
from loganalyst.sources.files.flatten import config_table
from loganalyst.sources.files.lineblocks import Block, blocks, gap, place, text
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.formats import HEAD
from loganalyst.sources.tables import histories, jsonlines, jsonwithtext, stepcolumns
from loganalyst.sources.tables.jsonfolded import RESULT
from loganalyst.sources.tables.jsonlines import MAX_CHUNK_LINES, MIN_LINES, Lines
from loganalyst.sources.tables.jsonrows import Log
from loganalyst.sources.tables.jsonshape import parse_json, shape
from loganalyst.sources.tables.jsonvalues import values
from loganalyst.sources.tables.namedresults import are_named
from loganalyst.sources.text.lines import wrapped

NAME = "json"

_SUMMARIES = {"wandb-summary.json"}  # has a reader of its own
_KEY = re.compile(r'"([^"]{1,200})"\s*:')  # `"step": [` of columns, `"step": 1` of rows
_SCORES = {"log_history": 1.0, "history": 0.8, "array": 0.7}
_MAX_HELD = 64 << 20  # bytes of a file of lines that is held while text between them is searched for
_MAX_WHOLE = 256 << 20  # bytes of a file that must be read as a whole
BLOCK = 4 << 20  # bytes
_DECODER = json.JSONDecoder()
_Split = tuple[Block, Lines]

# `nan`, `-inf` outside a text: `: nan,`, `[inf]`
_BARE = re.compile(r"(?<=[\s:,\[])-?(?:nan|inf)(?=\s{0,9}[,\]}])")


def _as_json(found: re.Match[str]) -> str:
    return found[0].replace("nan", "NaN").replace("inf", "Infinity").replace("-NaN", "NaN")


def sniff(path: Path, head: bytes) -> float:
    """How sure it is that the file holds metrics: by its shape, and whether its rows or lists have steps."""
    opening = text(head)
    kind = None if path.name in _SUMMARIES or not opening.strip() else shape(path, opening)
    keys = _KEY.findall(opening) if kind in ("history", "array") else []
    if kind == "history" and _shows_training(keys):
        return 0.95
    if kind == "array" and stepcolumns.matching(keys, stepcolumns.COUNTERS) and any(map(RESULT.search, keys)):
        return 0.92
    if kind != "lines":
        return _SCORES.get(kind or "", 0.0)
    rows = [row for line in opening.split("\n")[:20] if isinstance(row := parse_json(line), dict)]
    columns = {key: None for row in rows for key, _ in values(row)}
    if stepcolumns.matching(columns, stepcolumns.COUNTERS):
        return 0.95
    return 0.6 if len(columns) > 1 else 0.3


def _shows_training(keys: Sequence[str]) -> bool:
    """Whether one of the columns or rows with these keys is a counter or a loss."""
    return bool(stepcolumns.matching(keys, stepcolumns.COUNTERS)) or any("loss" in key.lower() for key in keys)


def read(path: Path, **limits: int) -> Iterator[Tables]:
    """The file's points in file order; `config` rows for the settings of a trainer state or a Ray result."""
    yield from resume(path, None, **limits)


def resume(
    path: Path,
    mark: Mark | None,
    *,
    block: int = BLOCK,
    min_lines: int = MIN_LINES,
    chunk_lines: int = MAX_CHUNK_LINES,
) -> Generator[Tables, None, Mark | None]:
    """As `read`, from `mark` on. Files of lines can grow; other files are read whole each time."""
    with opened(path) as file:
        head = file.read(HEAD)
    kind = shape(path, text(head))
    if kind == "lines":
        limits = {"min_lines": min_lines, "chunk_lines": chunk_lines}
        lines = partial(_read_lines, path, size=block, limits=limits)
        numbers = partial(lines, None, is_broken=jsonwithtext.is_damaged)
        if keys := wrapped.keys(head, metrics=True):
            yield from jsonwithtext.read(path, numbers(), jsonwithtext.TextNoted(keys))
            return None
        found = _split(path, mark, block)
        held = list(islice(found, max(_MAX_HELD // block, 1)))
        rest = next(found, None)  # the blocks of a short file are read and split once
        following = chain(held, [rest] if rest else [], found)
        if not jsonwithtext.has_text(split for _, split in following):
            return (yield from lines(mark, None if rest else held))
        if mark:  # text counts the starts of the program over the whole file
            raise StartAgainError(f"{path}: text among objects")
        yield from jsonwithtext.read(path, numbers(), jsonwithtext.Copy())
        return None
    if path.stat().st_size > _MAX_WHOLE:
        yield Tables(gaps=gap(path, f"larger than {_MAX_WHOLE >> 20} MiB and not an object a line", 0))
    else:
        yield from _read_whole(path, whole(path), kind)
    return None


def _split(path: Path, mark: Mark | None, size: int) -> Iterator[_Split]:
    """The blocks of the lines behind `mark`, each with the places of its lines."""
    offset, line = (mark.offset, mark.state["line"]) if mark else (0, 1)
    for block in blocks(path, size=size, offset=offset, line=line, quoted=False):
        yield block, Lines.split(block.data)


def _read_lines(
    path: Path,
    mark: Mark | None,
    held: Iterable[_Split] | None = None,
    *,
    size: int,
    limits: Mapping[str, int],
    is_broken: Callable[[bytes], bool] = lambda _: True,
) -> Generator[Tables, None, Mark | None]:
    """The points of the lines behind `mark`, in blocks that are `held` or read. What is no object and `is_broken`
    becomes a gap.

    A mark is set only behind a full block. So the blocks, and the axes chosen from the first, do not depend on where
    reading stopped before.
    """
    log = Log.restored(path, mark.state["log"]) if mark else Log(path)
    offset = mark.offset if mark else 0
    kept = Counter(mark.kept if mark else {})
    behind = mark or Mark(0, {}, {"line": 1, "log": log.state()})
    for block, lines in _split(path, mark, size) if held is None else held:
        for tables in _block(log, block, lines, limits, is_broken):
            kept.update({f.name: getattr(tables, f.name).height for f in fields(Tables)})
            yield tables
        begin, offset = offset, block.at(len(block.data)) or 0  # UTF-16 has no offset: reading cannot resume within it
        line = block.line + block.breaks
        if offset - begin > size and block.data.endswith(b"\n"):  # appended lines cannot change this block
            behind = Mark(offset, dict(kept), {"line": line, "log": log.state()})
    yield log.gap_rows()
    return behind


def _block(
    log: Log, block: Block, lines: Lines, limits: Mapping[str, int], is_broken: Callable[[bytes], bool]
) -> Iterator[Tables]:
    """The points of a block: most lines are decoded in bulk, the others by the parser."""
    wide, left = jsonlines.read(lines, **limits)
    records: list[dict[str, Any]] = []
    places: list[int] = []
    for nth in left.tolist():
        line = lines.line(nth)
        found, end = _objects(line, line.decode()) if line else ([], 0)
        records += found
        places += [nth] * len(found)
        if end < len(line) and is_broken(line[end:]):
            begin = int(lines.begins[nth])
            cut = begin + len(line) == len(block.data) and line.lstrip().startswith(b"{")  # no line break follows
            log.broken(block.line + nth, block.at(begin + end), block.extent(line[end:]), cut=cut)
    yield from log.records(records, wide, np.array(places, np.int64), block.line)


def _objects(line: bytes, content: str) -> tuple[list[dict[str, Any]], int]:
    """The objects at the start of a line, and their length in bytes. Two writers may share a line: `{…}{…}`."""
    if not line.strip():
        return [], len(line)
    if content.startswith('{"'):  # the usual line: exactly one object
        with suppress(ValueError, RecursionError):
            data, end = _DECODER.raw_decode(content)
            if end == len(content):
                return [data], len(line)
    try:
        data = json.loads(line)
        return ([data], len(line)) if isinstance(data, dict) else ([], 0)
    except (ValueError, RecursionError):
        with suppress(ValueError, RecursionError):  # `{"loss": nan}`, as Python prints it
            data = json.loads(_BARE.sub(_as_json, content))
            return ([data], len(line)) if isinstance(data, dict) else ([], 0)
        found, end, _ = _elements(content, 0)
        objects = _dicts(found)
        return objects, len(content[:end].encode()) if len(objects) == len(found) else 0


def _elements(content: str, at: int) -> tuple[list[Any], int, bool]:
    """The intact values from `at` on, separated by commas; the offset behind them; whether a ``]`` follows."""
    found: list[Any] = []
    while True:
        while at < len(content) and content[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _DECODER.raw_decode(content, at)
        except (ValueError, RecursionError):
            return found, at, content[at : at + 1] == "]"
        found.append(value)


def _read_whole(path: Path, raw: bytes, kind: str | None) -> Iterator[Tables]:
    """The tables of a file that is one JSON value. If a list breaks off, its intact entries are read."""
    content = text(raw)
    data, log = parse_json(content), Log(path)
    if kind == "history" and isinstance(data, dict):
        yield from histories.of_lists(log, data)
    elif kind == "log_history" and isinstance(data, dict):
        yield from _trainer_state(log, data)
    elif kind in {"array", "log_history"}:
        begin = content.find("[", max(content.find('"log_history"'), 0) if kind == "log_history" else 0) + 1
        found, end, whole = (data, len(content), True) if isinstance(data, list) else _elements(content, begin)
        rows = _dicts(found)
        if kind == "array" and are_named(rows):
            yield Tables(gaps=gap(path, histories.NAMED, 0))
            return
        yield from _trainer_state(log, {"log_history": found}) if kind == "log_history" else log.records(rows)
        if not whole:
            offset = place(raw, content[:end])
            why = f"broken JSON after {len(found)} entries"
            yield Tables(gaps=gap(path, why, offset, len(raw) - offset))
    else:
        yield Tables(gaps=gap(path, "no metrics in this JSON" if data is not None else "broken JSON", 0, len(raw)))
    yield log.gap_rows()


def _trainer_state(log: Log, state: Mapping[str, Any]) -> Iterator[Tables]:
    """Hugging Face: the history as points; the totals (its last entry) and the other fields of the state as config."""
    history = state.get("log_history")
    entries = _dicts(history if isinstance(history, list) else [])
    yield from log.records([entry for entry in entries if "train_runtime" not in entry])
    totals = [item for entry in entries if "train_runtime" in entry for item in entry.items()]
    facts = {key: value for key, value in [*totals, *state.items()] if not isinstance(value, dict | list)}
    yield Tables(config=config_table(facts.items(), log.path.name, prefix="trainer_state."))


def _dicts(items: Sequence[Any]) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)]
