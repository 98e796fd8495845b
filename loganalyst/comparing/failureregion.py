"""Find the region of settings where runs diverge or fail: one or two conditions that separate them best."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.comparing.comparisonresult import Corner
from loganalyst.comparing.settingspace import Setting, shown

Bools = NDArray[np.bool_]

MAX_CUTS = 6  # thresholds of a numeric setting, in either direction
MAX_LEVELS = 8  # of a choice
MAX_CONDITIONS = 240  # that are combined in pairs
MAX_P = 0.05
MIN_FAILURES = 2  # in a region
SECOND_CONDITION_P_RATIO = 0.1  # a second condition must reduce the p-value to this share


def corner(settings: Sequence[Setting], bad: Bools) -> Corner | None:
    """The region with the most significant failures, or None. Each region gets Fisher's exact test (one-sided); its
    p-value is multiplied by the number of regions.
    """
    from scipy.stats import hypergeom

    n, failed = bad.size, int(bad.sum())
    named = [c for s in settings for c in _conditions(s)][:MAX_CONDITIONS]
    if not 0 < failed < n or not named:
        return None
    names = [name for name, _, _ in named]
    member = np.array([m for _, m, _ in named], dtype=float)
    keys = np.array([key for _, _, key in named])
    inside, hit = member @ member.T, (member * bad) @ member.T
    single = np.eye(len(names), dtype=bool)  # a condition paired with itself is one condition
    tested = np.triu((keys[:, None] != keys[None, :]) | single)
    tested &= (hit >= MIN_FAILURES) & (inside < n)
    p = np.where(tested, hypergeom.sf(hit - 1, n, failed, inside), 1.0) * max(int(tested.sum()), 1)
    alone = int(np.argmin(np.diag(p)))
    i, j = divmod(int(np.argmin(p)), len(names))
    if p[i, j] > SECOND_CONDITION_P_RATIO * p[alone, alone]:
        i = j = alone
    if p[i, j] > MAX_P:
        return None
    runs, hits = int(inside[i, j]), int(hit[i, j])
    conditions = tuple(dict.fromkeys((names[i], names[j])))
    return Corner(conditions, runs, hits, n - runs, failed - hits, float(p[i, j]))


def _conditions(s: Setting) -> list[tuple[str, Bools, str]]:
    """The conditions on one setting: (text, which runs meet it, key)."""
    if s.scale == "choice":
        return [(f"{s.key} = {level}", s.codes == i, s.key) for i, level in enumerate(s.levels[:MAX_LEVELS])]
    tried = np.unique(s.codes)
    inner = np.quantile(s.codes, np.linspace(0, 1, MAX_CUTS + 2)[1:-1], method="lower")
    cuts = np.unique(inner if tried.size > MAX_CUTS else tried)
    above = [(f"{s.key} > {shown(s.levels[int(c)])}", s.codes > c, s.key) for c in cuts if c < tried[-1]]
    below = [(f"{s.key} ≤ {shown(s.levels[int(c)])}", s.codes <= c, s.key) for c in cuts if c < tried[-1]]
    return [*above, *below]
