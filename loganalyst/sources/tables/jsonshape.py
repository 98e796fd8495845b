"""The shape of a JSON file, from its first bytes: metrics in one of four shapes, or one object of settings."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from loganalyst import filemeasure
from loganalyst.model.tabletext import printable
from loganalyst.sources.files.flatten import number
from loganalyst.sources.tables import jsonfolded, unnamed
from loganalyst.sources.tables.stepcolumns import COUNTERS, matching

Shape = Literal["lines", "array", "log_history", "history", "object"]

SETTINGS = ("config", "hparams", "args", "opt", "params", "training_args", "hyperparam", "settings", "options")
MAX_OF_ROW = 20  # values of a row; more are data
_LOGS = {"metrics", "result", "progress", "log", "scalars"}
# keys that metric names leave out
_HISTORIES = ("history", "metrics", "log", "logs", "results", "curves", "stats", "evals_result", "eval_result", "evals")
# `{"loss": [0.5` or `{"history": {"loss": [0.5`
_LISTS = re.compile(r'\{\s*"[^"]{0,200}"\s*:\s*(?:\{\s*"[^"]{0,200}"\s*:\s*)?\[\s*(?:-?\d|NaN|null|-?Infinity)')


def settings_name(path: Path) -> bool:
    """Whether a file is named as one of settings, such as `train_config.json`."""
    stem = path.stem.lower()
    return any(stem.startswith(word) or stem.endswith(("_" + word, "-" + word)) for word in SETTINGS)


def shape(path: Path, opening: str) -> Shape | None:
    """The shape of a file that begins with `opening`; None if it is not JSON.

    lines: one object per line. array: a list of objects. log_history: a Hugging Face trainer state. history: one list
    of numbers per metric. object: any other single object.
    """
    opening = opening.lstrip()
    if _lines(path, opening):
        return "lines"
    if re.match(r"\[\s*\{", opening):
        return "array"
    return _object(path, opening) if opening.startswith("{") else None


def _object(path: Path, opening: str) -> Shape | None:
    if '"log_history"' in opening:
        return "log_history"
    data = parse_json(opening)
    if settings_name(path):
        return "object"
    if isinstance(data, dict):
        return "history" if number_lists(data, path) else "object"
    by_metric = _LISTS.match(opening) or jsonfolded.opens(opening, _metric(path))
    return "history" if by_metric else "object"


def _lines(path: Path, opening: str) -> bool:
    """Whether most of the first lines are objects. A single line must also be named like a log and count steps."""
    whole = [line for line in opening.split("\n")[:21] if line.strip()]
    if len(whole) > 1 and len(opening) >= 1 << 15:
        whole = whole[:-1]
    objects = [data for line in whole if line.lstrip().startswith("{") and isinstance(data := parse_json(line), dict)]
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        return bool(objects) or (opening.startswith("{") and "\n" not in opening)  # the first line is cut off
    if len(whole) == 1 and objects:
        axes = matching(objects[0], COUNTERS)
        return path.stem.lower() in _LOGS and any(not isinstance(objects[0][axis], list | dict) for axis in axes)
    return len(objects) > 0 and 2 * len(objects) >= len(whole)


def parse_json(text: str | bytes) -> Any:
    """The JSON value of a text; None where the text is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def number_lists(data: Mapping[str, Any], path: Path | None = None) -> dict[str, list[float | None]]:
    """The lists of numbers in a nested object, by keys joined with ``/``; empty unless they form one table.

    They form one table if at least half have the same length, and that is 10 or more, or the lists are at least half
    of the object's values. Lists of one number are the history of one epoch if a loss is among them. `jsonfolded`
    brings other layouts into this form first; of some the name of the file (`path`) says that they are results.
    """
    data = jsonfolded.unfolded(data, _metric(path) if path else "")
    lists = dict(_lists(data, ""))
    sizes = Counter(map(len, lists.values()))
    common = max(sizes, key=sizes.__getitem__, default=0)
    table = 2 * sizes[common] >= len(lists) and (common >= 10 or (common > 1 and 2 * len(lists) >= len(data)))
    if table:
        lists |= dict(_lists_of_rows(data, "", common))
    return _unprefixed(lists) if table or _one_epoch(data, lists) else {}


def _metric(path: Path) -> str:
    """The metric that a file is named after; empty if its name says anything else."""
    metric = unnamed.metric_of(path)
    return metric if filemeasure.is_metric(metric) else ""


def _one_epoch(data: Mapping[str, Any], lists: Mapping[str, Sequence[float | None]]) -> bool:
    """Whether it is the history of one epoch: nothing but lists of one number, one of them a loss."""
    single = len(lists) == len(data) > 1 and all(len(numbers) == 1 for numbers in lists.values())
    return single and any("loss" in name.lower() for name in lists)


def _unprefixed(lists: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    """Without the prefix that all names share, if it is one of _HISTORIES."""
    heads = {name.partition("/")[0] for name in lists}
    head = next(iter(heads)) if len(heads) == 1 else ""
    return {name.removeprefix(f"{head}/"): numbers for name, numbers in lists.items()} if head in _HISTORIES else lists


def _lists(data: Mapping[str, Any], prefix: str, depth: int = 4) -> Iterator[tuple[str, list[float | None]]]:
    for key, value in data.items():
        name = printable(f"{prefix}{key}")
        if isinstance(value, dict) and depth:
            yield from _lists(value, f"{name}/", depth - 1)
        elif isinstance(value, list) and any(x is not None for x in value) and all(map(_number_or_none, value)):
            yield name, [number(x) for x in value]


def _lists_of_rows(
    data: Mapping[str, Any], prefix: str, length: int, depth: int = 4
) -> Iterator[tuple[str, list[float | None]]]:
    """The columns of lists of rows, with a row for each of the `length` values of the table: of clients, of classes."""
    for key, value in data.items():
        name = printable(f"{prefix}{key}")
        if isinstance(value, dict) and depth:
            yield from _lists_of_rows(value, f"{name}/", length, depth - 1)
        elif isinstance(value, list) and len(value) == length and (width := _width(value)):
            yield from ((f"{name}/{k}", [number(row[k]) for row in value]) for k in range(width))


def _width(rows: Sequence[Any]) -> int:
    """How many numbers each of the rows has; 0 where they differ, are too many, or are something else."""
    if not all(isinstance(row, list) and row and all(map(_number_or_none, row)) for row in rows):
        return 0
    widths = {len(row) for row in rows}
    return widths.pop() if len(widths) == 1 and max(widths) <= MAX_OF_ROW else 0


def _number_or_none(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
