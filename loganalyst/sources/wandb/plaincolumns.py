"""Plain W&B rows (see `plainrecords`) as columns of points, decoded in parallel."""

import json
import math
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.jsonitems import leaf, unused_kind
from loganalyst.sources.wandb.metricrows import AXES, NO_STEP, OWN, Columns
from loganalyst.sources.wandb.plainrecords import Chunk, Floats, Ints, Items, Mask


class _Key(NamedTuple):
    """The meaning of a key: its metric or axis (None: none), and whether it can be decoded in parallel."""

    metric: str | None
    axis: str | None
    plain: bool


class Found(NamedTuple):
    """The points of the rows that were `taken`, the metric name of each code, and the other values.

    `unused`: how many values of a kind that is not a number were logged under a name.
    """

    columns: Columns
    names: list[str | None]
    taken: Mask
    unused: Counter[tuple[str, str]]


def columns(chunk: Chunk, items: Items, places: Ints, plain: Mask, times: Floats | None = None) -> Found:
    """The points of the rows at `places`.

    `times` (seconds): those of system metrics; history rows contain their own time and step. A `plain` row is not taken
    if it contains an object, a value that is not JSON, or an axis that is not a number.
    """
    keys = [_key(key, system=times is not None) for key in items.keys]
    values, odd, texts = chunk.numbers(items)
    words, refused = _meanings(texts)
    values[odd] = [math.nan if isinstance(word, str) else word for word in words]
    pointed = np.ones(len(values), np.bool_)
    pointed[odd] = [not isinstance(word, str) for word in words]
    refusing = _refusing(keys, items, odd, refused)
    axes = _axes(keys, items, values, len(places))
    taken = plain & (~np.isnan(axes["_step"]) if times is None else True)
    taken[items.record[refusing]] = False
    kept = np.array([key.metric is not None for key in keys], np.bool_)[items.code] & taken[items.record]
    logged = [(word, keys[items.code[at]].metric) for at, word in zip(odd.tolist(), words, strict=True) if kept[at]]
    kept &= pointed
    rows = np.cumsum(taken) - 1
    found = Columns(
        places=places[taken],
        steps=_as_steps(axes["_step"][taken]),
        times=(axes["_timestamp"] if times is None else times)[taken],
        epochs=axes["epoch"][taken],
        rows=rows[items.record[kept]],
        codes=items.code[kept],
        values=values[kept],
    )
    lost = Counter((word, metric) for word, metric in logged if isinstance(word, str) and word and metric is not None)
    return Found(found, [key.metric for key in keys], taken, lost)


def _refusing(keys: list[_Key], items: Items, odd: Ints, refused: Ints) -> Mask:
    """The items for which a row is not taken. `odd`: items that are no number; `refused`: those of them to refuse."""
    refusing = ~np.array([key.plain for key in keys], np.bool_)[items.code]
    refusing[odd[refused]] = True
    axis = np.array([key.axis is not None for key in keys], np.bool_)[items.code]
    refusing[odd] |= axis[odd]
    return refusing


def _axes(keys: list[_Key], items: Items, values: Floats, rows: int) -> dict[str, Floats]:
    """The value of each axis in each row; NaN where the row has none."""
    axes = {name: np.full(rows, math.nan) for name in AXES}
    for code in (code for code, key in enumerate(keys) if key.axis):
        same = items.code == code
        axes[str(keys[code].axis)][items.record[same]] = values[same]
    return axes


@lru_cache(4096)
def _key(key: bytes, *, system: bool) -> _Key:
    try:
        path = proto.path(key)
    except (ValueError, IndexError):
        return _Key(None, None, plain=False)
    axis = path[0] if len(path) == 1 and path[0] in AXES and not system else None
    metric = ".".join(path) if path and path[0] not in OWN else None
    metric = f"system/{metric}" if system and metric is not None else metric
    return _Key(metric, axis, plain=not (len(path) > 1 and path[-1] == "_type"))


def _meanings(texts: list[str]) -> tuple[list[float | str], Ints]:
    """The number in each text, or its kind (see `jsonitems.unused_kind`); and the positions of values that need the
    slow path.
    """
    meanings: dict[str, float | str | None] = {}
    for word in dict.fromkeys(texts):
        try:
            value = json.loads(word)
        except (ValueError, RecursionError):
            meanings[word] = None
            continue
        number = leaf(value)
        meanings[word] = None if isinstance(value, dict) else unused_kind(value) if number is None else number
    words = [meanings[word] for word in texts]
    refused = np.array([at for at, word in enumerate(words) if word is None], np.int64)
    return ["" if word is None else word for word in words], refused


def _as_steps(values: Floats) -> Ints:
    known = np.abs(values) < 2**63
    return np.where(known, np.where(known, values, 0).astype(np.int64), NO_STEP)
