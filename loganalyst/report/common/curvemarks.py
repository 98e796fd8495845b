"""Marks for findings on a curve: their colours, signs and words, the same in figures (matplotlib) and pages (SVG)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import Curve

__all__ = ["COLOURS", "MARKS", "ONSET", "RATE", "findings_on", "spike_peak"]

RATE = "learning_rate"  # the role that gets a low panel of its own
# Colours that people with any colour vision can distinguish (Okabe and Ito 2008)
COLOURS = {
    "curve": "#0072B2",
    "rate": "#595959",
    "onset": "#000000",
    "quiet": "#7f7f7f",
    "nonfinite": "#D55E00",
    "divergence": "#D55E00",
    "level_up": "#E69F00",
    "level_down": "#009E73",
    "spike": "#CC79A7",
    "slope": "#E69F00",
    "plateau": "#56B4E9",
}
# Kind of finding -> colour, style, words of the legend. A style is a line style, "point", "band", or "span" (drawn
# where the values themselves are non-finite). Other kinds, such as a change of noise, are not drawn
MARKS = {
    "nonfinite": ("nonfinite", "span", "NaN or infinite"),
    "divergence": ("divergence", "-", "left its trend"),
    "level_up": ("level_up", "--", "new level"),
    "level_down": ("level_down", "--", "new level, better"),
    "slope": ("slope", ":", "turned for the worse"),
    "plateau": ("plateau", "band", "plateau"),
    "spike": ("spike", "point", "spike"),
    "restart": ("quiet", ":", "restart"),
}
ONSET = "where the trouble began"


def findings_on(curve: Curve, findings: pl.DataFrame) -> pl.DataFrame:
    """The findings to mark on a curve. A learning rate gets none: its schedule changes it on purpose."""
    if curve.role.name == RATE:
        return findings.clear()
    on_curve = pl.col("metric") == curve.metric
    return findings.filter(on_curve, pl.col("step").is_not_null(), pl.col("kind").is_in(list(MARKS)))


def spike_peak(curve: Curve, finding: Mapping[str, Any]) -> int | None:
    """The position of the value of a spike that is farthest from the curve's median; None without a finite value."""
    last = finding["end_step"] if finding["end_step"] is not None else finding["step"]
    inside = (curve.steps >= finding["step"]) & (curve.steps <= last) & np.isfinite(curve.values)
    at = np.flatnonzero(inside)
    if not at.size:
        return None
    median = np.median(curve.values[np.isfinite(curve.values)])
    return int(at[np.argmax(np.abs(curve.values[at] - median))])
