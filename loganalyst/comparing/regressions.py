"""Compare an old and a new set of runs: which metrics are worse by more than the noise within equal settings."""

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing.comparisonresult import Regression
from loganalyst.comparing.runobjective import MEASURES, SPEED, Measure, most_common
from loganalyst.comparing.settingspace import Space

LEVEL = 0.05  # family-wise error over all metrics
FAILURES = "share of runs that fail"


def regressions(
    space: Space, features: pl.DataFrame, new: NDArray[np.bool_], failed: NDArray[np.bool_]
) -> tuple[Regression, ...]:
    """One regression per measure that both sets have, the worst first. `features` is in the order of the space's runs;
    `new` marks the new set, `failed` the failed runs. The family-wise error is LEVEL (Holm 1979).
    """
    blocks = blocks_of(space, new)
    found = [r for m in (*MEASURES, SPEED) if (r := _measured(m, features, blocks, new)) is not None]
    share = _failures(new, failed)
    return _judged([*found, *([share] if share else [])])


def changed(space: Space, new: NDArray[np.bool_]) -> dict[str, tuple[str, str]]:
    """Settings with one value in all old runs, and another value in all new runs."""
    found = {}
    for name in space.values.columns:
        old, now = (space.values[name].filter(pl.Series(side)).unique() for side in (~new, new))
        if len(old) == len(now) == 1 and old[0] != now[0]:
            found[name] = (str(old[0]), str(now[0]))
    return found


def blocks_of(space: Space, new: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Block numbers: equal for runs that agree in every setting that varies within a set."""
    inner = [
        s.codes for s in space.settings if any(np.unique(s.codes[side]).size > 1 for side in (new, ~new) if side.any())
    ]
    if not inner:
        return np.zeros(new.size, dtype=np.int64)
    return np.unique(np.column_stack(inner), axis=0, return_inverse=True)[1].ravel()


def _measured(
    m: Measure, features: pl.DataFrame, blocks: NDArray[np.int64], new: NDArray[np.bool_]
) -> Regression | None:
    """The mean difference within blocks, with its interval by Student's t (analysis of variance with blocks). This
    covers pairs of single runs, several seeds per setting, and two sets without equal settings.
    """
    if (metric := most_common(features[m.name])) is None:
        return None
    value = features[m.value].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    known = np.isfinite(value) & (features[m.name] == metric).fill_null(False).to_numpy()
    old_known, new_known = known & ~new, known & new
    if not old_known.any() or not new_known.any():
        return None
    old, now = value[old_known], value[new_known]
    shared = np.intersect1d(blocks[old_known], blocks[new_known])
    block = blocks if shared.size else np.zeros_like(blocks)
    difference, error, free = _within(value[known], new[known], block[known])
    found = Regression(
        metric, m.role, float(old.mean()), float(now.mean()), old.size, now.size, int(shared.size), difference,
        None, None, None, "unknown",
    )  # fmt: skip
    return found if error is None else _tested(found, error, free, m.worse)


def _within(
    y: NDArray[np.float64], new: NDArray[np.bool_], block: NDArray[np.int64]
) -> tuple[float, float | None, int]:
    """The effect of the new set, adjusted for blocks; its standard error (None: the noise is unknown); and the degrees
    of freedom.
    """
    _, block = np.unique(block, return_inverse=True)
    count = np.bincount(block)
    # subtracting block means from x and y gives the same slope as fitting one effect per block
    x, y = new - (np.bincount(block, new) / count)[block], y - (np.bincount(block, y) / count)[block]
    power = float(x @ x)
    effect = float(x @ y) / power
    free = y.size - count.size - 1
    if free < 1:
        return effect, None, 0
    return effect, float(np.sqrt(np.sum((y - effect * x) ** 2) / free / power)), free


def _tested(found: Regression, error: float, free: int, worse: str) -> Regression:
    """The regression with its interval, p-value and direction."""
    from scipy.stats import t

    width = float(t.isf(LEVEL / 2, free)) * error
    p = 2 * float(t.sf(abs(found.difference) / error, free)) if error else float(found.difference == 0)
    is_worse = (found.difference > 0) == (worse == "up")
    return replace(
        found,
        low=found.difference - width,
        high=found.difference + width,
        p=p,
        verdict="worse" if is_worse else "better",
    )


def _failures(new: NDArray[np.bool_], failed: NDArray[np.bool_]) -> Regression | None:
    """The share of runs that fail, by Fisher's exact test."""
    from scipy.stats import fisher_exact

    counts = [[int((failed & side).sum()), int((~failed & side).sum())] for side in (new, ~new)]
    if not failed.any():
        return None
    p = float(fisher_exact(np.array(counts))[1])
    old, now = float(failed[~new].mean()), float(failed[new].mean())
    sizes = int((~new).sum()), int(new.sum())
    found = Regression(FAILURES, "failures", old, now, *sizes, 0, now - old, None, None, p, "worse")
    return found if now > old else replace(found, verdict="better")


def _judged(found: list[Regression]) -> tuple[Regression, ...]:
    """The verdicts corrected for all tests (Holm): worse or better only if that is significant."""
    tested = sorted((r for r in found if r.p is not None), key=lambda r: r.p or 0.0)
    reached = 0.0
    judged = []
    for i, r in enumerate(tested):
        reached = max(reached, min((r.p or 0.0) * (len(tested) - i), 1.0))
        judged.append(replace(r, p=reached, verdict=r.verdict if reached <= LEVEL else "same"))
    rank = {"worse": 0, "unknown": 2, "same": 3, "better": 1}
    return tuple(sorted([*judged, *(r for r in found if r.p is None)], key=lambda r: rank[r.verdict]))
