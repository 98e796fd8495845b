"""The report as one HTML file. It loads nothing, sends nothing, and can be read without its script.

We draw the plots ourselves as SVG, with our own script for zooming and for reading values. Plotting libraries do not
fit. The scripts that Python packages carry (Plotly, Bokeh) add 1 to 5 MB to every report. Smaller libraries draw on a
canvas, which is empty without scripts, in print and for a screen reader. An SVG has none of these faults, and its style
sheet follows light and dark. A long curve keeps the lowest and highest value of even groups and every stretch of NaN,
so that no spike is lost.

`element` escapes the text of a run. A Content-Security-Policy allows only images inside the page, and the style and
script of this package, named by their hashes.
"""

from collections.abc import Sequence

import numpy as np

from loganalyst.model import Diagnosis
from loganalyst.report.diagnosis.html import page

__all__ = ["render"]


def render(diagnoses: Diagnosis | Sequence[Diagnosis], *, top: int = 5) -> str:
    """The page of one run, or of several in sequence, each with at most `top` causes."""
    runs = [diagnoses] if isinstance(diagnoses, Diagnosis) else [*diagnoses]
    with np.errstate(all="ignore"):
        return page.page(runs, top)
