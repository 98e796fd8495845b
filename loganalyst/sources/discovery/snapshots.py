"""One history that was saved again and again: `epoch_1/losses.json`, `epoch_2/losses.json`, each longer than the last.

The names differ only in numbers, and each file begins the next one, value by value. Trainings of different lengths do
not, so they stay apart.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loganalyst import opening
from loganalyst.sources import formats
from loganalyst.sources.discovery.filenames import Kind, kind
from loganalyst.sources.tables.npyarrays import Floats
from loganalyst.thresholds import reading_limit

if TYPE_CHECKING:
    from loganalyst.sources.discovery.runs import Found

MAX_BYTES = 16 << 20  # of all of them

_NUMBER = re.compile(r"\d{1,18}")

Values = Mapping[str, Floats]


def longest(found: "Sequence[Found]") -> "Found | None":
    """The run with the whole history, if the others hold its beginnings; None if they do not."""
    if not 1 < len(found) <= reading_limit("snapshots_of_a_history") or len({_shape(run) for run in found}) > 1:
        return None
    runs = sorted(found, key=_numbers)
    if sum(_size(file) for run in runs for file in _measured(run)) > MAX_BYTES:
        return None
    if not _grow(map(_values, runs)):
        return None
    *earlier, whole = runs
    last = _measured(whole)[0]
    ignored = (f"{file}: an earlier part of {last}" for run in earlier for file in _measured(run))
    words = (
        f"{last.parent.name}/{last.name} holds all of the history of which {len(earlier):,} others are earlier parts"
    )
    return replace(whole, basis=(*whole.basis, words), ignored=(*whole.ignored, *ignored))


def _measured(run: "Found") -> list[Path]:
    """The files of a run that may hold metrics."""
    return [file for file in run.files if kind(file.name) is not Kind.SETTINGS]


def _shape(run: "Found") -> tuple[str, ...]:
    """The paths of a run without numbers; those of one history are alike."""
    return tuple(_NUMBER.sub("#", str(file)) for file in _measured(run))


def _numbers(run: "Found") -> list[int]:
    return [int(number) for file in _measured(run) for number in _NUMBER.findall(str(file))]


def _size(file: Path) -> int:
    try:
        return os.path.getsize(file)
    except OSError:
        return 0


def _values(run: "Found") -> Values:
    """The values of each metric of a run, in order."""
    with opening.within(run.bounds()):
        frames = [frame for file in _measured(run) for frame in _points(file)]
    if not frames:
        return {}
    grouped = pl.concat(frames).group_by("file", "metric", maintain_order=True)
    return {"/".join(map(str, key)): rows["value"].to_numpy() for key, rows in grouped}


def _points(file: Path) -> Iterator[pl.DataFrame]:
    name = pl.lit(_NUMBER.sub("#", file.name)).alias("file")
    metric = pl.col("metric").str.replace_all(r"\d+", "#")  # the name of a file may be that of its metric
    return (points.select(name, metric, "value") for points in formats.points_of(file))


def _grow(histories: Iterator[Values]) -> bool:
    """Whether each history begins the next one; none is read after the first that does not."""
    said = False
    for shorter, longer in pairwise(histories):
        if not _begins(shorter, longer):
            return False
        said = _say_enough(shorter, longer)
    return said


def _begins(first: Values, second: Values) -> bool:
    """Whether each metric of the first history begins the same metric of the second."""
    none = np.empty(0)
    return bool(first) and all(
        np.array_equal(values, second.get(metric, none)[: values.size], equal_nan=True)
        for metric, values in first.items()
    )


def _say_enough(shorter: Values, longer: Values) -> bool:
    """Whether two histories have enough different values in common, and the second is longer."""
    shared = [len(np.unique(values)) for values in shorter.values()]
    grew = sum(map(len, longer.values())) > sum(map(len, shorter.values()))
    return grew and max(shared, default=0) >= reading_limit("snapshot_values")
