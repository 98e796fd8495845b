"""Short series without a known role: an exact segmentation finds the changes, and the detectors name them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loganalyst.model import ChangePoint
from loganalyst.signals.bends import trend
from loganalyst.signals.preparedcurve import Prepared
from loganalyst.signals.segments import Cut, segments

MAX_SERIES_POINTS = 1000  # longer series make the exact segmentation slow
MIN_JUMP = 2.0  # noise units from which a change is a level shift and no bend
MAX_DISTANCE = 0.03  # share of the series (5 points at least) within which both findings are the same change
SINGLE_KINDS = ("spike", "periodic", "lr_drop")  # kinds that no piece shows


def plain(p: Prepared, found: Sequence[ChangePoint]) -> list[ChangePoint]:
    """The changes of `found` that the segmentation confirms, at its places, and the changes that it adds."""
    cuts = segments(p.level) if p.size == 1 else []
    near = max(5, round(MAX_DISTANCE * p.y.size))
    alone = [c for c in found if c.kind in SINGLE_KINDS]
    lasting = [c for c in found if c.kind not in SINGLE_KINDS]
    for i, cut in enumerate(cuts):
        left, right = (cuts[i - 1].index if i else 0), (cuts[i + 1].index if i + 1 < len(cuts) else p.y.size)
        mates = [c for c in lasting if abs(c.index - cut.index) <= near]
        alone.append(
            replace(min(mates, key=lambda c: abs(c.index - cut.index)), index=cut.index)
            if mates
            else _named(p, cut, left, right)
        )
    return alone


def _named(p: Prepared, cut: Cut, left: int, right: int) -> ChangePoint:
    """A level shift or a bend, by the straight lines through the pieces on both sides."""
    before, after = p.level[left : cut.index], p.level[cut.index : right]
    noise, was, now = float(p.noise[cut.index]), trend(before), trend(after)
    end, start = float(before.mean()) + was * before.size / 2, float(after.mean()) - now * after.size / 2
    jump, bend = start - end, (now - was) * min(before.size, after.size)
    significance = float(np.clip(1 - 0.5 / max(cut.gain, 0.5), 0, 1))
    if abs(jump) >= max(MIN_JUMP * noise, abs(bend) / 2):
        return ChangePoint(cut.index, None, "level_up" if jump > 0 else "level_down", abs(jump) / noise, significance)
    return ChangePoint(cut.index, None, "slope", abs(bend) / noise, significance)
