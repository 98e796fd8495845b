"""Group runs by project, from their settings, their metrics, and the size of the values.

Two sets of runs are unrelated if the settings that identify the training differ, and the metrics or their values differ
too. Without known settings the metrics decide. In doubt, runs stay together: splitting a sweep is worse than comparing
two projects.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing import trainingnames as names
from loganalyst.comparing.comparedruns import Logged
from loganalyst.comparing.comparisonlimits import Metrics, Settings, limits
from loganalyst.comparing.runobjective import MEASURES
from loganalyst.comparing.trainingnames import Names

Rows = NDArray[np.int64]
ROWS_PER_BATCH = 256  # rows whose neighbours are searched together


@dataclass(frozen=True)
class Kin:
    """A group of related runs, by their `rows`. `settings` and `metrics` count the names that identify a training:
    those in common with the first group, and those of the smaller set. `scale` has the roles whose values differ.
    """

    rows: Rows
    settings: tuple[int, int] = (0, 0)
    metrics: tuple[int, int] = (0, 0)
    scale: tuple[str, ...] = ()


def kin(runs: Logged, metric: str | None = None) -> list[Kin]:
    """The groups of related runs, the largest first; one group if nothing shows that runs are unrelated. With a
    `metric`, the group in which most runs have it comes first.
    """
    ids = runs.listing["run_id"].to_list()
    settings, limit = names.settings(ids, runs.config), limits().settings
    at = _chains(settings, limit.min_names, limit.related_share)
    if (at == 0).all():
        return [Kin(np.arange(len(ids)))]
    values = runs.features.select(m.value for m in MEASURES).cast(pl.Float64).fill_null(float("nan")).to_numpy()
    folder = pl.col("path").str.replace(r"[/\\][^/\\]*$", "")
    folders = names.incidence(ids, runs.listing.select("run_id", name=folder))
    logged = _Names(settings, names.metrics(ids, runs.store), values, folders)
    groups: list[Rows] = []
    for piece in _pieces(logged, at):
        near = [i for i, group in enumerate(groups) if not logged.unrelated(group, piece)]
        if near:
            best = max(near, key=lambda i: logged.shared(groups[i], piece))
            groups[best] = np.concatenate([groups[best], piece])
        else:
            groups.append(piece)
    asked = names.having(ids, runs.store, metric)
    groups.sort(key=lambda rows: (int(asked[rows].sum()), rows.size), reverse=True)
    return [logged.kin(groups[0], group) for group in groups]


@dataclass(frozen=True)
class _Names:
    """The names that each run logs; `values` has one column per measure in MEASURES, NaN where not known."""

    settings: Names
    metrics: Names
    values: NDArray[np.float64]
    folders: Names

    def unrelated(self, a: Rows, b: Rows) -> bool:
        """Whether two sets of runs belong to different projects."""
        settings = _verdict(self.settings, a, b, limits().settings)
        if settings == "same":
            return False
        other_metrics = _verdict(self.metrics, a, b, limits().metrics) == "other"
        return other_metrics or (settings == "other" and bool(self.differing_roles(a, b)))

    def differing_roles(self, a: Rows, b: Rows) -> tuple[str, ...]:
        """The roles for which all values of one set are many times those of the other."""
        scale = limits().scale
        found = []
        for i, measure in enumerate(MEASURES):
            sides = [v[v > 0] for rows in (a, b) if np.isfinite(v := self.values[rows, i]).sum() >= scale.runs]
            if len(sides) == 2 and all(map(len, sides)):
                (low, high), (other_low, other_high) = ((float(v.min()), float(v.max())) for v in sides)
                found += [measure.role] if max(low / other_high, other_low / high) >= scale.factor else []
        return tuple(found)

    def shared(self, a: Rows, b: Rows) -> tuple[int, bool]:
        """How similar two sets of runs are: the number of common names, and whether they share a folder."""
        both = [int((_any(x, a) & _any(x, b)).sum()) for x in (self.settings, self.metrics, self.folders)]
        return both[0] + both[1], both[2] > 0

    def kin(self, first: Rows, rows: Rows) -> Kin:
        """A group with its comparison to the first group."""
        if rows is first:
            return Kin(np.sort(rows))
        settings, metrics = (_overlap(_any(x, first), _any(x, rows)) for x in (self.settings, self.metrics))
        return Kin(np.sort(rows), settings, metrics, self.differing_roles(first, rows))


def _any(names: Names, rows: Rows) -> NDArray[np.bool_]:
    """The names that at least one of the runs has."""
    return np.asarray(names[rows].any(axis=0))


def _overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> tuple[int, int]:
    """The number of common names, and of names in the smaller set."""
    return int((a & b).sum()), int(min(a.sum(), b.sum()))


def _verdict(names: Names, a: Rows, b: Rows, limit: Settings | Metrics) -> Literal["same", "other"] | None:
    """Whether two sets have the same names or others; None where that is not clear."""
    shared, smaller = _overlap(_any(names, a), _any(names, b))
    if smaller < limit.min_names or limit.unrelated_share * smaller < shared < limit.related_share * smaller:
        return None
    return "other" if shared <= limit.unrelated_share * smaller else "same"


def _pieces(known: _Names, at: Rows) -> list[Rows]:
    """Runs that are linked by their settings (the chains `at`), the largest set first; then runs with too few settings,
    linked by their metrics; then runs with too few of both, split by the names they log and their folder.
    """
    unsure = np.flatnonzero(at < 0)
    limit = limits().metrics
    by_metrics = _chains(known.metrics[unsure], limit.min_names, limit.related_share)
    every = np.column_stack([known.settings, known.metrics, known.folders])[unsure]
    _, alike = np.unique(every, axis=0, return_inverse=True)
    parts = [(0, np.flatnonzero(at == i)) for i in range(at.max(initial=-1) + 1)]
    parts += [(1, unsure[by_metrics == i]) for i in range(by_metrics.max(initial=-1) + 1)]
    left = by_metrics < 0
    parts += [(2, unsure[left][alike.ravel()[left] == i]) for i in np.unique(alike.ravel()[left])]
    return [rows for _, rows in sorted(parts, key=lambda part: (part[0], -part[1].size))]


def _chains(names: Names, min_names: int, share: float) -> Rows:
    """Chain numbers of rows: each row of a chain has at least this share of its names in common with another row of it.
    -1 for a row with fewer than `min_names`.
    """
    profiles, profile_of = np.unique(names, axis=0, return_inverse=True)
    at = np.full(len(profiles), -1)
    left = np.flatnonzero(profiles.sum(axis=1) >= min_names)
    weights, sizes = profiles.astype(np.float32), profiles.sum(axis=1)
    chain = 0
    while left.size:
        front, left = left[:1], left[1:]
        while front.size:
            batch, front = front[:ROWS_PER_BATCH], front[ROWS_PER_BATCH:]
            at[batch] = chain
            shared = weights[left] @ weights[batch].T
            near = (shared >= share * np.minimum.outer(sizes[left], sizes[batch])).any(axis=1)
            front, left = np.concatenate([front, left[near]]), left[~near]
        chain += 1
    return at[profile_of.ravel()]
