"""Where in the space of settings runs diverge or fail: the box of one or two conditions that parts them best."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.comparing.comparisonresult import Corner
from loganalyst.comparing.settingspace import Setting, shown

Bools = NDArray[np.bool_]

CUTS = 6  # of a numeric setting, from either side
LEVELS = 8  # of a choice
MOST = 240  # conditions that are paired
SURE = 0.05
LEAST = 2  # failures in a corner
BETTER = 0.1  # a second condition must bring the chance down to this part of it


def corner(settings: Sequence[Setting], bad: Bools) -> Corner | None:
    """The corner where most fail, or None where none is sure. Each box is asked by Fisher's exact test (one-sided), the
    chance multiplied by the number of boxes.
    """
    from scipy.stats import hypergeom

    n, failed = bad.size, int(bad.sum())
    named = [c for s in settings for c in _conditions(s)][:MOST]
    if not 0 < failed < n or not named:
        return None
    names = [name for name, _, _ in named]
    member = np.array([m for _, m, _ in named], dtype=float)
    of = np.array([key for _, _, key in named])
    inside, hit = member @ member.T, (member * bad) @ member.T
    own = np.eye(len(names), dtype=bool)
    asked = np.triu((of[:, None] != of[None, :]) | own)
    asked &= (hit >= LEAST) & (inside < n)
    p = np.where(asked, hypergeom.sf(hit - 1, n, failed, inside), 1.0) * max(int(asked.sum()), 1)
    alone = int(np.argmin(np.diag(p)))
    i, j = divmod(int(np.argmin(p)), len(names))
    if p[i, j] > BETTER * p[alone, alone]:
        i = j = alone
    if p[i, j] > SURE:
        return None
    runs, hits = int(inside[i, j]), int(hit[i, j])
    conditions = tuple(dict.fromkeys((names[i], names[j])))
    return Corner(conditions, runs, hits, n - runs, failed - hits, float(p[i, j]))


def _conditions(s: Setting) -> list[tuple[str, Bools, str]]:
    """What can be said of one setting: words, which runs hold it, its key."""
    if s.scale == "choice":
        return [(f"{s.key} = {level}", s.codes == i, s.key) for i, level in enumerate(s.levels[:LEVELS])]
    tried = np.unique(s.codes)
    inner = np.quantile(s.codes, np.linspace(0, 1, CUTS + 2)[1:-1], method="lower")
    cuts = np.unique(inner if tried.size > CUTS else tried)
    above = [(f"{s.key} > {shown(s.levels[int(c)])}", s.codes > c, s.key) for c in cuts if c < tried[-1]]
    below = [(f"{s.key} ≤ {shown(s.levels[int(c)])}", s.codes <= c, s.key) for c in cuts if c < tried[-1]]
    return [*above, *below]
