"""Histories in JSON by another order than lists by metric: rows by number, columns by index, rows by part."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from loganalyst.sources.tables.jsonvalues import values
from loganalyst.sources.tables.stepcolumns import EPOCHS, STEPS, known

FEWEST = 3  # entries that are a history
_NUMBER = re.compile(r"(?:(epoch|step|iter|iteration|round|episode)[ _-]?)?(\d{1,15})", re.IGNORECASE)
_PART = re.compile(r"(?:train|training|val|valid|validation|test|eval|evaluation|dev)", re.IGNORECASE)
# of a training: predictions have numbers, scores and errors, too
_RESULT = re.compile(r"loss|accuracy|acc\b|perplexity|ppl|reward|return|psnr|miou|bleu|learning_rate", re.IGNORECASE)
_OPENING = re.compile(
    r'\{\s*"(?:'
    rf'{_NUMBER.pattern}"\s*:\s*\{{\s*"[^"]{{0,200}}"\s*:\s*[-\d{{]'  # a row by its number
    r'|[^"]{0,200}"\s*:\s*\{\s*"\d{1,15}"\s*:\s*(?:-?\d|NaN|null)'  # a column by its index
    rf'|{_PART.pattern}"\s*:\s*\[\s*\{{)',  # the rows of a part
    re.IGNORECASE,
)

Row = dict[str, Any]


def opens(opening: str) -> bool:
    """Whether a file may be such a history, by how it begins."""
    return bool(_OPENING.match(opening.lstrip())) and bool(_RESULT.search(opening))


def unfolded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Such a history as lists of values by metric, with NULL where a row has none; anything else as it is."""
    rows = _by_number(data) or _by_part(data)
    if rows:
        keys = dict.fromkeys(key for row in rows for key in row)
        lists = {key: [row.get(key) for row in rows] for key in keys}
        return lists if any(_RESULT.search(key) for key in lists) else data
    return _by_index(data) or data


def _by_number(data: Mapping[str, Any]) -> list[Row]:
    """The rows of {"epoch_1": {...}, ...}, the number as their epoch or step where they tell none."""
    found = [_NUMBER.fullmatch(key) for key in data]
    if len(data) < FEWEST or not all(found) or not all(isinstance(row, dict) for row in data.values()):
        return []
    return [
        row if known(row, (*STEPS, *EPOCHS)) else {(hit[1] or "step").lower(): int(hit[2]), **row}
        for hit, row in zip(found, map(dict, map(values, data.values())), strict=True)
        if hit
    ]


def _by_part(data: Mapping[str, Any]) -> list[Row]:
    """The rows of {"train": [{...}, ...], "val": [...]}: those of one step, or one place in their lists, as one."""
    parts = {key: rows for key, rows in data.items() if _PART.fullmatch(key) and _dicts(rows)}
    if not parts or max(map(len, parts.values())) < FEWEST or any(_dicts(data[key]) for key in data.keys() - parts):
        return []
    told = {part: [dict(values(row)) for row in rows] for part, rows in parts.items()}
    axes = [_axis(row) for rows in told.values() for row in rows]
    placed = None not in axes
    merged: dict[Any, Row] = {}
    for part, rows in told.items():
        for place, row in enumerate(rows):
            axis = _axis(row) if placed else None
            own = {f"{part}/{key}": value for key, value in row.items() if key != axis}
            merged.setdefault(row[axis] if axis else place, {axis: row[axis]} if axis else {}).update(own)
    return [merged[place] for place in sorted(merged)]


def _axis(row: Row) -> str | None:
    """What of a row counts it: a whole number."""
    return next((key for key in known(row, (*STEPS, *EPOCHS)) if type(row[key]) is int), None)


def _by_index(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of {"loss": {"0": 1.2, "1": 1.1}, ...}, as pandas writes a table."""
    columns = {key: column for key, column in data.items() if isinstance(column, dict)}
    index = list(next(iter(columns.values()), {}))
    if len(index) < FEWEST or len(columns) < len(data) or not all(key.isascii() and key.isdecimal() for key in index):
        return {}
    alike = all(list(column) == index for column in columns.values())
    return {key: list(column.values()) for key, column in columns.items()} if alike else {}


def _dicts(rows: Any) -> bool:
    return isinstance(rows, Sequence) and bool(rows) and all(isinstance(row, dict) for row in rows)
