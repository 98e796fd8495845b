"""Plain W&B rows (see `plainrecords`) as columns of points."""

import json
import math
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.jsonitems import leaf, unused
from loganalyst.sources.wandb.metricrows import AXES, NO_STEP, OWN, Columns
from loganalyst.sources.wandb.plainrecords import Chunk, Floats, Ints, Items, Mask


class _Key(NamedTuple):
    """What a key is: the metric it names (None: none), the axis, whether it is read side by side."""

    metric: str | None
    axis: str | None
    plain: bool


class Found(NamedTuple):
    """The points of the rows that were `taken`, the names their codes stand for, and what else stood there: how often
    a kind of value that is no number was logged under a name.
    """

    columns: Columns
    names: list[str | None]
    taken: Mask
    unused: Counter[tuple[str, str]]


def columns(chunk: Chunk, items: Items, places: Ints, plain: Mask, times: Floats | None = None) -> Found:
    """The points of rows side by side, one row a place.

    `times` (seconds) are those of system metrics; rows of the history hold their own, and their step. Of the `plain`
    rows one is not taken where it holds an object, a value that is no JSON, or an axis that is no number.
    """
    keys = [_key(key, system=times is not None) for key in items.keys]
    values, odd, texts = chunk.numbers(items)
    words, refused = _words(texts)
    values[odd] = [math.nan if isinstance(word, str) else word for word in words]
    pointed = np.ones(len(values), np.bool_)
    pointed[odd] = [not isinstance(word, str) for word in words]
    refusing = ~np.array([key.plain for key in keys], np.bool_)[items.code]
    refusing[odd[refused]] = True
    axes = {name: np.full(len(places), math.nan) for name in AXES}
    axis = np.array([key.axis is not None for key in keys], np.bool_)[items.code]
    refusing[odd] |= axis[odd]
    for code in (code for code, key in enumerate(keys) if key.axis):
        of = items.code == code
        axes[str(keys[code].axis)][items.record[of]] = values[of]
    taken = plain & (~np.isnan(axes["_step"]) if times is None else True)
    taken[items.record[refusing]] = False
    kept = np.array([key.metric is not None for key in keys], np.bool_)[items.code] & taken[items.record]
    told = [(word, keys[items.code[at]].metric) for at, word in zip(odd.tolist(), words, strict=True) if kept[at]]
    kept &= pointed
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
    lost = Counter((word, metric) for word, metric in told if isinstance(word, str) and word and metric is not None)
    return Found(found, [key.metric for key in keys], taken, lost)


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


def _words(texts: list[str]) -> tuple[list[float | str], Ints]:
    """What values written as words stand for: a number, or what kind of other value (see `wandbvalues.unused`); the
    places of those that cannot be told side by side.
    """
    said: dict[str, float | str | None] = {}
    for word in dict.fromkeys(texts):
        try:
            value = json.loads(word)
        except (ValueError, RecursionError):
            said[word] = None
            continue
        number = leaf(value)
        said[word] = None if isinstance(value, dict) else unused(value) if number is None else number
    words = [said[word] for word in texts]
    refused = np.array([at for at, word in enumerate(words) if word is None], np.int64)
    return ["" if word is None else word for word in words], refused


def _whole(values: Floats) -> Ints:
    known = np.abs(values) < 2**63
    return np.where(known, np.where(known, values, 0).astype(np.int64), NO_STEP)
