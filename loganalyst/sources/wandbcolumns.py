"""Plain W&B rows (see `wandbplain`) as columns of points."""

import json
import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources import wandbproto
from loganalyst.sources.wandbplain import Chunk, Ints, Items, Mask
from loganalyst.sources.wandbrows import AXES, NO_STEP, OWN, Columns, leaf

Floats = NDArray[np.float64]


@dataclass
class _Meanings:
    """What the keys of a chunk are, by code: names of metrics (None: no metric), names of axes, parts of objects."""

    metrics: list[str | None]
    axes: dict[str, Mask]
    parts: Mask


def columns(
    chunk: Chunk, items: Items, places: Ints, plain: Mask, times: Floats | None = None
) -> tuple[Columns, list[str | None], Mask]:
    """The points of rows side by side, one row a place; the names their codes stand for; which rows were taken.

    `times` (seconds) are those of system metrics; rows of the history hold their own, and their step. Of the `plain`
    rows one is not taken where it holds an object, a value that is no JSON, or an axis that is no number.
    """
    known = _meanings(items.keys, system=times is not None)
    values, words = chunk.numbers(items)
    pointed, refused = _words(values, words)
    refused |= known.parts[items.code]
    axes = {name: np.full(len(places), math.nan) for name in AXES}
    for name, codes in known.axes.items():
        of = codes[items.code]
        refused |= of & words.is_not_null().to_numpy()
        axes[name][items.record[of]] = values[of]
    taken = plain & (~np.isnan(axes["_step"]) if times is None else True)
    taken[items.record[refused]] = False
    metric = np.array([name is not None for name in known.metrics], np.bool_)
    kept = pointed & metric[items.code] & taken[items.record]
    rows = np.cumsum(taken) - 1
    found = Columns(
        places=places[taken],
        steps=_whole(axes["_step"][taken]),
        times=(axes["_timestamp"] if times is None else times)[taken],
        epochs=axes["epoch"][taken],
        rows=rows[items.record[kept]],
        codes=items.code[kept],
        values=values[kept],
    )
    return found, known.metrics, taken


def _meanings(keys: list[bytes], *, system: bool) -> _Meanings:
    paths = [wandbproto.path(key) for key in keys]
    names = [".".join(path) if path[:1] and path[0] not in OWN else None for path in paths]
    return _Meanings(
        [f"system/{name}" if system and name is not None else name for name in names],
        {} if system else {axis: np.array([path == (axis,) for path in paths], np.bool_) for axis in AXES},
        np.array([len(path) > 1 and path[-1] == "_type" for path in paths], np.bool_),
    )


def _words(values: Floats, words: pl.Series) -> tuple[Mask, Mask]:
    """Fills in values written as words (NaN, true …); which items are points, and which cannot be told side by side."""
    pointed, refused = np.ones(len(values), np.bool_), np.zeros(len(values), np.bool_)
    said: dict[str, float | None] = {}
    texts = words.to_list()
    for at in words.is_not_null().arg_true().to_list():
        word = texts[at]
        try:
            value = said[word] if word in said else said.setdefault(word, _meaning(word))
        except (ValueError, RecursionError):
            refused[at] = True
            continue
        pointed[at] = value is not None
        values[at] = math.nan if value is None else value
    return pointed, refused


def _meaning(word: str) -> float | None:
    value = json.loads(word)
    if isinstance(value, dict):
        raise ValueError("an object")
    return leaf(value)


def _whole(values: Floats) -> Ints:
    known = np.abs(values) < 2**63
    return np.where(known, np.where(known, values, 0).astype(np.int64), NO_STEP)
