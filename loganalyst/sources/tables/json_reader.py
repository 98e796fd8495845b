"""Metrics in JSON: an object a line (detectron2, mmengine, DETR, Ray Tune …), a list of objects, a Hugging Face trainer
state, lists of numbers by metric (Keras' History), or the same by number, index or part (`jsonfolded`).

Nested names are joined with ``/``. Bare NaN and Infinity are numbers; true, false and texts are no metrics.
"""

import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from loganalyst.model import Tables
from loganalyst.opening import opened, whole
from loganalyst.sources.files.flatten import config_table
from loganalyst.sources.files.lineblocks import Block, blocks, gap, place, text
from loganalyst.sources.files.readmark import Mark
from loganalyst.sources.tables import jsonlines, stepcolumns
from loganalyst.sources.tables.jsonlines import Lines
from loganalyst.sources.tables.jsonrows import Log
from loganalyst.sources.tables.jsonshape import loaded, number_lists, shape
from loganalyst.sources.tables.jsonvalues import values

NAME = "json"

_SUMMARIES = {"wandb-summary.json"}  # the last values of a history that the run's own file holds
_SCORES = {"log_history": 1.0, "history": 0.8, "array": 0.7}
_LARGEST = 256 << 20  # bytes of a file that must be read as a whole
_BLOCK = 4 << 20  # bytes
_DECODER = json.JSONDecoder()


def sniff(path: Path, head: bytes) -> float:
    """How surely the file holds metrics: by the shape of its opening, and whether its rows count steps."""
    opening = text(head)
    kind = None if path.name in _SUMMARIES or not opening.strip() else shape(path, opening)
    if kind != "lines":
        return _SCORES.get(kind or "", 0.0)
    rows = [row for line in opening.split("\n")[:20] if isinstance(row := loaded(line), dict)]
    keys = {key: None for row in rows for key, _ in values(row)}
    if stepcolumns.known(keys, (*stepcolumns.STEPS, *stepcolumns.EPOCHS)):
        return 0.95
    return 0.6 if len(keys) > 1 else 0.3


def read(path: Path) -> Iterator[Tables]:
    """The file's points, in file order; what else a trainer state or a Ray result holds as config."""
    yield from resume(path, None)


def resume(path: Path, mark: Mark | None) -> Generator[Tables, None, Mark | None]:
    """As `read`, behind `mark`. Only lines grow; other files are read whole each time."""
    with opened(path) as file:
        kind = shape(path, text(file.read(1 << 16)))
    if kind == "lines":
        return (yield from _read_lines(path, mark))
    if path.stat().st_size > _LARGEST:
        yield Tables(gaps=gap(path, f"larger than {_LARGEST >> 20} MiB and not an object a line", 0))
    else:
        yield from _read_whole(path, whole(path), kind)
    return None


def _read_lines(path: Path, mark: Mark | None) -> Generator[Tables, None, Mark | None]:
    """The points of the lines behind `mark`. What is read for good are whole blocks, so that blocks, and with them the
    axes that the first one tells, are the same wherever reading stopped.
    """
    log = Log.of(path, mark.state["log"]) if mark else Log(path)
    offset, line = (mark.offset, mark.state["line"]) if mark else (0, 1)
    kept = Counter(mark.kept if mark else {})
    behind = mark or Mark(0, {}, {"line": 1, "log": log.state()})
    for block in blocks(path, size=_BLOCK, offset=offset, line=line, quoted=False):
        for tables in _block(log, block):
            kept.update({f.name: getattr(tables, f.name).height for f in fields(Tables)})
            yield tables
        begin, offset = offset, block.at(len(block.data)) or 0  # UTF-16 has none: it cannot be entered in its middle
        line = block.line + block.breaks
        if offset - begin > _BLOCK and block.data.endswith(b"\n"):  # whatever is appended, this block ends here
            behind = Mark(offset, dict(kept), {"line": line, "log": log.state()})
    yield log.rest()
    return behind


def _block(log: Log, block: Block) -> Iterator[Tables]:
    """The points of a block: of lines that are alike by column, of the others as the parser reads each."""
    lines = Lines.of(block.data)
    wide, left = jsonlines.read(lines)
    records: list[dict[str, Any]] = []
    places: list[int] = []
    for nth in left.tolist():
        line = lines.line(nth)
        found, end = _objects(line, line.decode()) if line else ([], 0)
        records += found
        places += [nth] * len(found)
        if end < len(line):
            log.broken(block.line + nth, block.at(int(lines.begins[nth]) + end), block.extent(line[end:]))
    yield from log.records(records, wide, np.array(places, np.int64), block.line)


def _objects(line: bytes, content: str) -> tuple[list[dict[str, Any]], int]:
    """The objects a line begins with (two writers may share one), and how many bytes of it they take."""
    if not line.strip():
        return [], len(line)
    if content.startswith('{"'):  # the usual line: one object to its end
        with suppress(ValueError, RecursionError):
            data, end = _DECODER.raw_decode(content)
            if end == len(content):
                return [data], len(line)
    try:
        data = json.loads(line)
        return ([data], len(line)) if isinstance(data, dict) else ([], 0)
    except (ValueError, RecursionError):
        found, end, _ = _elements(content, 0)
        objects = _dicts(found)
        return objects, len(content[:end].encode()) if len(objects) == len(found) else 0


def _elements(content: str, at: int) -> tuple[list[Any], int, bool]:
    """The intact values from `at` on, commas between; where that ends, and whether it ends with a ``]``."""
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
    """A file that is one value; where it breaks off, what its list held so far."""
    content = text(raw)
    data, log = loaded(content), Log(path)
    if kind == "history" and isinstance(data, dict):
        yield from log.lists(number_lists(data))
        facts = [(key, value) for key, value in data.items() if not isinstance(value, dict | list)]
        yield Tables(config=config_table(facts, path.name, prefix=f"{path.stem}."))
    elif kind == "log_history" and isinstance(data, dict):
        yield from _trainer_state(log, data)
    elif kind in {"array", "log_history"}:
        begin = content.find("[", max(content.find('"log_history"'), 0) if kind == "log_history" else 0) + 1
        found, end, whole = (data, len(content), True) if isinstance(data, list) else _elements(content, begin)
        yield from _trainer_state(log, {"log_history": found}) if kind == "log_history" else log.records(_dicts(found))
        if not whole:
            offset = place(raw, content[:end])
            why = f"broken JSON after {len(found)} entries"
            yield Tables(gaps=gap(path, why, offset, len(raw) - offset))
    else:
        yield Tables(gaps=gap(path, "no metrics in this JSON" if data is not None else "broken JSON", 0, len(raw)))
    yield log.rest()


def _trainer_state(log: Log, state: Mapping[str, Any]) -> Iterator[Tables]:
    """Hugging Face: the history as points; the run's totals (its last entry) and the state's own fields as config."""
    history = state.get("log_history")
    entries = _dicts(history if isinstance(history, list) else [])
    yield from log.records([entry for entry in entries if "train_runtime" not in entry])
    totals = [item for entry in entries if "train_runtime" in entry for item in entry.items()]
    facts = {key: value for key, value in [*totals, *state.items()] if not isinstance(value, dict | list)}
    yield Tables(config=config_table(facts.items(), log.path.name, prefix="trainer_state."))


def _dicts(items: Sequence[Any]) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)]
