"""Two sets of runs, an old one and a new one: which metrics are worse beyond what runs of equal settings differ by."""

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing.comparisonresult import Regression
from loganalyst.comparing.runobjective import MEASURES, SPEED, Measure
from loganalyst.comparing.settingspace import Space

LEVEL = 0.05
FAILING = "share of runs that fail"


def regressions(
    space: Space, features: pl.DataFrame, new: NDArray[np.bool_], failed: NDArray[np.bool_]
) -> tuple[Regression, ...]:
    """Of each measure that both sets have, the worst first; `features` in the order of the space's runs, `new` marks
    those of the new set, `failed` those that failed. Family-wise error LEVEL (Holm 1979).
    """
    blocks = blocks_of(space, new)
    found = [r for m in (*MEASURES, SPEED) if (r := _measured(m, features, blocks, new)) is not None]
    share = _failing(new, failed)
    return _judged([*found, *([share] if share else [])])


def changed(space: Space, new: NDArray[np.bool_]) -> dict[str, tuple[str, str]]:
    """Settings that have one value in all old runs, and another one in all new ones."""
    told = {}
    for name in space.values.columns:
        old, now = (space.values[name].filter(pl.Series(side)).unique() for side in (~new, new))
        if len(old) == len(now) == 1 and old[0] != now[0]:
            told[name] = (str(old[0]), str(now[0]))
    return told


def blocks_of(space: Space, new: NDArray[np.bool_]) -> NDArray[np.int64]:
    """One number for runs that agree in every setting that varies within a set."""
    inner = [
        s.codes for s in space.settings if any(np.unique(s.codes[side]).size > 1 for side in (new, ~new) if side.any())
    ]
    if not inner:
        return np.zeros(new.size, dtype=np.int64)
    return np.unique(np.column_stack(inner), axis=0, return_inverse=True)[1].ravel()


def _measured(
    m: Measure, features: pl.DataFrame, blocks: NDArray[np.int64], new: NDArray[np.bool_]
) -> Regression | None:
    """The mean difference within blocks, and its interval by Student's t: a pair of single runs, several seeds of each,
    or two sets without equal settings are all this (analysis of variance with blocks).
    """
    names = features[m.name].drop_nulls().value_counts().sort("count", m.name, descending=[True, False])
    if not names.height:
        return None
    metric = str(names[m.name][0])
    value = features[m.value].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    known = np.isfinite(value) & (features[m.name] == metric).fill_null(False).to_numpy()
    old_known, new_known = known & ~new, known & new
    if not old_known.any() or not new_known.any():
        return None
    old, now = value[old_known], value[new_known]
    shared = np.intersect1d(blocks[old_known], blocks[new_known])
    block = blocks if shared.size else np.zeros_like(blocks)
    difference, error, free = _within(value[known], new[known], block[known])
    told = Regression(
        metric, m.role, float(old.mean()), float(now.mean()), old.size, now.size, int(shared.size), difference,
        None, None, None, "unknown",
    )  # fmt: skip
    return told if error is None else _tested(told, error, free, m.worse)


def _within(
    y: NDArray[np.float64], new: NDArray[np.bool_], block: NDArray[np.int64]
) -> tuple[float, float | None, int]:
    """Effect of being new beside an effect of each block, its standard error (None: nothing tells noise), and the
    degrees of freedom.
    """
    _, block = np.unique(block, return_inverse=True)
    many = np.bincount(block)
    x, rest = new - (np.bincount(block, new) / many)[block], y - (np.bincount(block, y) / many)[block]
    power = float(x @ x)
    effect = float(x @ rest) / power
    free = y.size - many.size - 1
    if free < 1:
        return effect, None, 0
    return effect, float(np.sqrt(np.sum((rest - effect * x) ** 2) / free / power)), free


def _tested(told: Regression, error: float, free: int, worse: str) -> Regression:
    from scipy.stats import t

    width = float(t.isf(LEVEL / 2, free)) * error
    p = 2 * float(t.sf(abs(told.difference) / error, free)) if error else float(told.difference == 0)
    turned = (told.difference > 0) == (worse == "up")
    return replace(
        told, low=told.difference - width, high=told.difference + width, p=p, verdict="worse" if turned else "better"
    )


def _failing(new: NDArray[np.bool_], failed: NDArray[np.bool_]) -> Regression | None:
    """The share of runs that fail, by Fisher's exact test."""
    from scipy.stats import fisher_exact

    counts = [[int((failed & side).sum()), int((~failed & side).sum())] for side in (new, ~new)]
    if not failed.any():
        return None
    p = float(fisher_exact(np.array(counts))[1])
    old, now = float(failed[~new].mean()), float(failed[new].mean())
    sizes = int((~new).sum()), int(new.sum())
    found = Regression(FAILING, "failures", old, now, *sizes, 0, now - old, None, None, p, "worse")
    return found if now > old else replace(found, verdict="better")


def _judged(found: list[Regression]) -> tuple[Regression, ...]:
    """Worse or better only where it holds for all that were asked at once."""
    asked = sorted((r for r in found if r.p is not None), key=lambda r: r.p or 0.0)
    reached = 0.0
    judged = []
    for i, r in enumerate(asked):
        reached = max(reached, min((r.p or 0.0) * (len(asked) - i), 1.0))
        judged.append(replace(r, p=reached, verdict=r.verdict if reached <= LEVEL else "same"))
    rank = {"worse": 0, "unknown": 2, "same": 3, "better": 1}
    return tuple(sorted([*judged, *(r for r in found if r.p is None)], key=lambda r: rank[r.verdict]))
