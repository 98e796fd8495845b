"""JSON histories that are not lists by metric.

Forms: rows or values by number, columns by index, rows by part of the data, rows under a key, lists with columns that
have values for some of the steps, and the tables of `jsontables`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loganalyst.sources.tables import jsontables
from loganalyst.sources.tables.jsonvalues import values
from loganalyst.sources.tables.stepcolumns import COUNTERS, matching

MIN_ENTRIES = 3  # of a history
# epoch_12, Step 400, 7
_NUMBER = re.compile(r"(?:(epoch|step|iter|iteration|round|episode)[ _-]?)?(\d{1,15})", re.IGNORECASE)
_PART = re.compile(r"(?:train|training|val|valid|validation|test|eval|evaluation|dev)", re.IGNORECASE)
# names of metrics that only a training logs; files of predictions have scores and errors too
RESULT = re.compile(r"loss|accuracy|acc\b|perplexity|ppl|reward|return|psnr|miou|bleu|learning_rate", re.IGNORECASE)
# Names of measures that predictions have too: they show results only beside the same rows for other data
_MEASURE = re.compile(
    r"(?:^|[^a-z])(?:total|error|err|mse|mae|rmse|nll|elbo|kl|score|f1|auc|iou|dice|ssim|precision|recall)(?:[^a-z]|$)",
    re.I,
)
_OPENING = re.compile(
    r'\{\s*"(?:'
    rf'{_NUMBER.pattern}"\s*:\s*\{{\s*"[^"]{{0,200}}"\s*:\s*[-\d{{]'  # a row: {"epoch_1": {"loss": 0.5
    r'|[^"]{0,200}"\s*:\s*\{\s*"\d{1,15}"\s*:\s*(?:-?\d|NaN|null)'  # a column: {"loss": {"0": 0.5
    rf'|{_PART.pattern}"\s*:\s*\[\s*\{{)',  # the rows of a part: {"train": [{
    re.IGNORECASE,
)
_VALUES_OPEN = re.compile(rf'\{{\s*"{_NUMBER.pattern}"\s*:\s*(?:-?\d|NaN)', re.IGNORECASE)  # {"1": 0.5
_PARTS_OPEN = re.compile(rf'\{{\s*"{_PART.pattern}"\s*:\s*\[\s*\{{', re.IGNORECASE)  # {"train": [{

_ROWS_OPEN = re.compile(r'"[^"]{1,200}"\s*:\s*\[\s*\{\s*"')  # rows under a key: "history": [{"
_COUNTED = re.compile(r'"([^"]{1,200})"\s*:\s*\d')  # "epoch": 1

Row = dict[str, Any]


def opens(opening: str, metric: str = "") -> bool:
    """Whether a file may be such a history, by its first characters; `metric` as in `unfolded`."""
    start = opening.lstrip()
    if metric and _VALUES_OPEN.match(start):
        return True
    if (metric or RESULT.search(opening)) and (
        _OPENING.match(start) or jsontables.opens(start) or _opens_rows(opening)
    ):
        return True
    return bool(_PARTS_OPEN.match(start) and _MEASURE.search(opening))


def _opens_rows(opening: str) -> bool:
    """Whether rows that count begin under a key: {"lr": 0.1, "history": [{"epoch": 1, …"""
    begin = _ROWS_OPEN.search(opening)
    return bool(begin and matching(_COUNTED.findall(opening, begin.start()), COUNTERS))


def unfolded(data: Mapping[str, Any], metric: str = "") -> Mapping[str, Any]:
    """Such a history as lists of values by metric, None where a row has no value. Other data are returned unchanged.
    `metric` is what the file is named after, if that is a measure: then its rows and values are results.
    """
    if metric and (lists := _values_by_number(data, metric)):
        return lists
    rows = _by_number(data) or _by_part(data)
    if rows:
        lists = _columns(rows)
        return lists if metric or any(RESULT.search(key) for key in lists) or _are_measured_alike(data, lists) else data
    table = jsontables.columns(data) or jsontables.steps_of_pairs(data)
    if any(RESULT.search(key) for key in table):
        return table
    return _by_index(data) or _under_a_key(data) or _with_some_steps(data) or data


def _are_measured_alike(data: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]) -> bool:
    """Whether {"train": [{"total": 1.5}, …], "dev": [{"total": 1.6}, …]} is a course: each part has as many rows as the
    others, all with the same keys and numbers, and one key is a measure. Samples of data are seldom split in halves.
    """
    parts = [rows for key, rows in data.items() if _PART.fullmatch(key)]
    alike = len(parts) > 1 and len({len(rows) for rows in parts}) == 1
    keys = {tuple(row) for rows in parts for row in rows} if alike else set()
    return len(keys) == 1 and any(map(_MEASURE.search, lists)) and all(_are_numbers(x) for x in lists.values())


def _are_numbers(column: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in column)


def _by_number(data: Mapping[str, Any]) -> list[Row]:
    """The rows of {"epoch_1": {...}, ...}. The number is the epoch or step of a row that has none."""
    found = [_NUMBER.fullmatch(key) for key in data]
    if len(data) < MIN_ENTRIES or not all(found) or not all(isinstance(row, dict) for row in data.values()):
        return []
    return [
        row if matching(row, COUNTERS) else {(hit[1] or "step").lower(): int(hit[2]), **row}
        for hit, row in zip(found, map(dict, map(values, data.values())), strict=True)
        if hit
    ]


def _values_by_number(data: Mapping[str, Any], metric: str) -> dict[str, list[Any]]:
    """{"1": 0.5, "2": 0.4} as the metric beside its steps, which rise evenly; nothing for other data."""
    found = [_NUMBER.fullmatch(key) for key in data]
    if len(data) < MIN_ENTRIES or not all(found) or not _are_numbers([*data.values()]):
        return {}
    steps = [int(hit[2]) for hit in found if hit]
    even = steps == [*range(steps[0], steps[-1] + 1, max(steps[1] - steps[0], 1))]
    return {"step": steps, metric: [*data.values()]} if even else {}


def _by_part(data: Mapping[str, Any]) -> list[Row]:
    """The rows of {"train": [{...}, ...], "val": [...]}, merged by step or, without steps, by position in the list."""
    parts = {key: rows for key, rows in data.items() if _PART.fullmatch(key) and _are_objects(rows)}
    others = data.keys() - parts
    if not parts or max(map(len, parts.values())) < MIN_ENTRIES or any(_are_objects(data[key]) for key in others):
        return []
    rows_by_part = {part: [dict(values(row)) for row in rows] for part, rows in parts.items()}
    has_axis = all(_axis(row) for rows in rows_by_part.values() for row in rows)
    merged: dict[Any, Row] = {}
    for part, rows in rows_by_part.items():
        for position, row in enumerate(rows):
            axis = _axis(row) if has_axis else None
            metrics = {f"{part}/{key}": value for key, value in row.items() if key != axis}
            merged.setdefault(row[axis] if axis else position, {axis: row[axis]} if axis else {}).update(metrics)
    return [merged[key] for key in sorted(merged)]


def _under_a_key(data: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of the rows that count in {"lr": 0.1, "history": [{"epoch": 1, "loss": 0.5}, ...]}, beside the other
    values; nothing if there are none, or those of several trainings.
    """
    found = [*_counted_rows(data)]
    others = {key: value for key, value in data.items() if not isinstance(value, dict | list)}
    return {**others, **_columns(found[0])} if len(found) == 1 else {}


def _counted_rows(data: Mapping[str, Any], depth: int = 2) -> Iterator[list[Row]]:
    for value in data.values():
        if isinstance(value, list) and _are_counted(value):
            yield value
        elif isinstance(value, dict) and depth:
            yield from _counted_rows(value, depth - 1)


def _are_counted(rows: list[Any]) -> bool:
    """Whether rows of a training follow one another: each has a counter, and some have a result."""
    if len(rows) < MIN_ENTRIES or not _are_objects(rows) or not all(matching(row, COUNTERS) for row in rows):
        return False
    return any(RESULT.search(key) for row in rows for key, _ in values(row))


def _columns(rows: list[Row]) -> dict[str, list[Any]]:
    flat = [dict(values(row)) for row in rows]
    return {key: [row.get(key) for row in flat] for key in dict.fromkeys(key for row in flat for key in row)}


def _axis(row: Row) -> str | None:
    """The key of a whole number that counts the row."""
    return next((key for key in matching(row, COUNTERS) if type(row[key]) is int), None)


def _by_index(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of {"loss": {"0": 1.2, "1": 1.1}, "val_loss": {"1": 1.3}}, which is how pandas writes a table.

    A column may have values for some of the rows. Rows that are not 0, 1, 2 … are the steps of a table without them.
    """
    if not data or not all(isinstance(column, dict) for column in data.values()):
        return {}
    keys = {key: None for column in data.values() for key in column}
    longest = max(len(column) for column in data.values())
    if longest < MIN_ENTRIES or len(keys) > 2 * longest or not all(k.isascii() and k.isdecimal() for k in keys):
        return {}
    rows = sorted(keys, key=int)
    columns = {name: [column.get(row) for row in rows] for name, column in data.items() if column}
    counted = [*map(int, rows)]
    return columns if counted == [*range(len(rows))] or matching(data, COUNTERS) else {"step": counted, **columns}


def _with_some_steps(data: Mapping[str, Any]) -> dict[str, Any]:
    """{"step": [1, 2, 3], "loss": […], "dev_score": {"2": 0.5}} with the last column as a list of the same length."""
    axis = next((key for key in matching(data, COUNTERS) if isinstance(data[key], list)), None)
    rows = {str(step): None for step in data[axis]} if axis else {}
    some = {k: column for k, column in data.items() if isinstance(column, dict) and 0 < len(column) <= len(rows)}
    columns = {key: column for key, column in some.items() if column.keys() <= rows.keys()}
    return {**data, **{key: [*{**rows, **column}.values()] for key, column in columns.items()}} if columns else {}


def _are_objects(rows: Any) -> bool:
    return isinstance(rows, Sequence) and bool(rows) and all(isinstance(row, dict) for row in rows)
