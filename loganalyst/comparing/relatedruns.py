"""Which runs have anything to do with each other, by what they log: settings, metrics, and how large the values are.

Two sets of runs are unrelated where the settings that say what is trained are other ones, and so are the metrics or
their values; or the metrics alone, where no settings are known. All else stays together: to part a sweep is worse than
to compare two projects.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing import trainingnames as names
from loganalyst.comparing.comparedruns import Logged
from loganalyst.comparing.comparisonlimits import limits
from loganalyst.comparing.runobjective import MEASURES
from loganalyst.comparing.trainingnames import Names

Rows = NDArray[np.int64]
AT_ONCE = 256  # rows whose neighbours are looked for together


@dataclass(frozen=True)
class Kin:
    """Runs that belong together, by their `rows`. Names of `settings` and `metrics` that say what is trained: how many
    are shared with the first group, and how many the smaller set has; `scale` names the measures whose values differ.
    """

    rows: Rows
    settings: tuple[int, int] = (0, 0)
    metrics: tuple[int, int] = (0, 0)
    scale: tuple[str, ...] = ()


def kin(runs: Logged, metric: str | None = None) -> list[Kin]:
    """The groups among some runs, the largest first; one where nothing says that they are unrelated. With a `metric`
    the one goes first of which most runs have it.
    """
    ids = runs.listing["run_id"].to_list()
    settings, of = names.settings(ids, runs.config), limits().settings
    at = _linked(settings, of.least, of.same)
    if (at == 0).all():
        return [Kin(np.arange(len(ids)))]
    values = runs.features.select(m.value for m in MEASURES).cast(pl.Float64).fill_null(float("nan")).to_numpy()
    folder = pl.col("path").str.replace(r"[/\\][^/\\]*$", "")
    folders = names.incidence(ids, runs.listing.select("run_id", name=folder))
    known = _Known(settings, names.metrics(ids, runs.store), values, folders)
    groups: list[Rows] = []
    for piece in _pieces(known, at):
        near = [i for i, group in enumerate(groups) if not known.unrelated(group, piece)]
        if near:
            best = max(near, key=lambda i: known.shared(groups[i], piece))
            groups[best] = np.concatenate([groups[best], piece])
        else:
            groups.append(piece)
    asked = names.having(ids, runs.store, metric)
    groups.sort(key=lambda rows: (int(asked[rows].sum()), rows.size), reverse=True)
    return [known.told(groups[0], group) for group in groups]


@dataclass(frozen=True)
class _Known:
    """What is logged by each run; `values` has a column for each of MEASURES, NaN where not known."""

    settings: Names
    metrics: Names
    values: NDArray[np.float64]
    folders: Names

    def unrelated(self, a: Rows, b: Rows) -> bool:
        """Whether two sets of runs have nothing to do with each other."""
        of, metrics = limits().settings, limits().metrics
        settings = _verdict(self.settings, a, b, (of.least, of.other, of.same))
        if settings == "same":
            return False
        others = _verdict(self.metrics, a, b, (metrics.least, metrics.other, metrics.same)) == "other"
        return others or (settings == "other" and bool(self.apart(a, b)))

    def apart(self, a: Rows, b: Rows) -> tuple[str, ...]:
        """The measures of which all values of the one are many times those of the other."""
        scale = limits().scale
        found = []
        for i, measure in enumerate(MEASURES):
            sides = [v[v > 0] for rows in (a, b) if np.isfinite(v := self.values[rows, i]).sum() >= scale.runs]
            if len(sides) == 2 and all(map(len, sides)):
                (low, high), (other_low, other_high) = ((float(v.min()), float(v.max())) for v in sides)
                found += [measure.role] if max(low / other_high, other_low / high) >= scale.factor else []
        return tuple(found)

    def shared(self, a: Rows, b: Rows) -> tuple[int, bool]:
        """How much two sets of runs have in common: names, and a folder they lie in."""
        both = [int((_any(x, a) & _any(x, b)).sum()) for x in (self.settings, self.metrics, self.folders)]
        return both[0] + both[1], both[2] > 0

    def told(self, first: Rows, rows: Rows) -> Kin:
        """A group as it is held against the first one."""
        if rows is first:
            return Kin(np.sort(rows))
        settings, metrics = (_overlap(_any(x, first), _any(x, rows)) for x in (self.settings, self.metrics))
        return Kin(np.sort(rows), settings, metrics, self.apart(first, rows))


def _any(names: Names, rows: Rows) -> NDArray[np.bool_]:
    """Names that one of the runs has."""
    return np.asarray(names[rows].any(axis=0))


def _overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> tuple[int, int]:
    """Shared names, and those of the smaller set."""
    return int((a & b).sum()), int(min(a.sum(), b.sum()))


def _verdict(names: Names, a: Rows, b: Rows, at: tuple[int, float, float]) -> Literal["same", "other"] | None:
    """None where it cannot be told; `at`: from how many names on it can, and the shares."""
    least, other, same = at
    shared, of = _overlap(_any(names, a), _any(names, b))
    if of < least or other * of < shared < same * of:
        return None
    return "other" if shared <= other * of else "same"


def _pieces(known: _Known, at: Rows) -> list[Rows]:
    """Runs linked by their settings, those with too few of them by their metrics; the largest first, but those of which
    neither tells anything last: these are taken by what they log and the folder they lie in.
    """
    unsure = np.flatnonzero(at < 0)
    of = limits().metrics
    logged = _linked(known.metrics[unsure], of.least, of.same)
    every = np.column_stack([known.settings, known.metrics, known.folders])[unsure]
    _, alike = np.unique(every, axis=0, return_inverse=True)
    parts = [(0, np.flatnonzero(at == i)) for i in range(at.max(initial=-1) + 1)]
    parts += [(1, unsure[logged == i]) for i in range(logged.max(initial=-1) + 1)]
    rest = alike.ravel()[logged < 0]
    parts += [(2, unsure[logged < 0][rest == i]) for i in np.unique(rest)]
    return [rows for _, rows in sorted(parts, key=lambda part: (part[0], -part[1].size))]


def _linked(names: Names, least: int, same: float) -> Rows:
    """Numbers of the chains of rows of which each shares so much of its names with the next; -1 for a row with fewer
    than `least`.
    """
    profiles, of = np.unique(names, axis=0, return_inverse=True)
    at = np.full(len(profiles), -1)
    left = np.flatnonzero(profiles.sum(axis=1) >= least)
    weights, sizes = profiles.astype(np.float32), profiles.sum(axis=1)
    chain = 0
    while left.size:
        front, left = left[:1], left[1:]
        while front.size:
            some, front = front[:AT_ONCE], front[AT_ONCE:]
            at[some] = chain
            shared = weights[left] @ weights[some].T
            near = (shared >= same * np.minimum.outer(sizes[left], sizes[some])).any(axis=1)
            front, left = np.concatenate([front, left[near]]), left[~near]
        chain += 1
    return at[of.ravel()]
