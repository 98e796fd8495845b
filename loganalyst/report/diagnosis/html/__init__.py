"""The report as one HTML file: nothing is fetched, nothing is sent, and it reads without a script too.

Plots are SVG that we draw ourselves, with a script of our own for zooming and reading values out. Plotting libraries
were weighed and left: the scripts that Python packages carry (Plotly, Bokeh: 1 to 5 MB in every report) are larger than
a whole report may be, and small ones draw on a canvas, so that a page has no curves without scripts, in print or read
aloud. An SVG has them, and follows light and dark by its style sheet. Of long curves the lowest and highest of even
groups are kept, and every stretch of NaN, so that no spike is lost.

Text of a run is escaped where it enters an element (`element`); a Content-Security-Policy lets nothing run or load but
the style and script of this package, named by their hashes, and images that stand in the page itself.
"""

from collections.abc import Sequence

import numpy as np

from loganalyst.model import Diagnosis
from loganalyst.report.diagnosis.html import page

__all__ = ["render"]


def render(diagnoses: Diagnosis | Sequence[Diagnosis], *, top: int = 5) -> str:
    """The page of one run, or of several after one another, each with at most `top` causes."""
    runs = [diagnoses] if isinstance(diagnoses, Diagnosis) else [*diagnoses]
    with np.errstate(all="ignore"):
        return page.page(runs, top)
