"""Figures: their look, formats and file. matplotlib is loaded on use.

A figure writes only the file that was asked for. The same data gives the same bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loganalyst import guard
from loganalyst.errors import LogAnalystError
from loganalyst.report.common.curvemarks import COLOURS
from loganalyst.report.common.wording import clean
from loganalyst.writing import write_whole

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

WIDTH = 7.2  # inches of a figure with one column
SERIES = tuple(COLOURS[name] for name in ("curve", "level_up", "level_down", "spike", "plateau"))  # of several curves
FORMATS = (".png", ".svg", ".pdf")
UNDATED: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}
DOTS_PER_INCH, NOTEBOOK_DOTS_PER_INCH = 150, 110
SETTINGS: Any = {
    "svg.hashsalt": "loganalyst",  # fixed, so that element ids do not change from call to call
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.92",
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.7,
    "axes.edgecolor": "0.4",
    "legend.frameon": False,
}  # fmt: skip


def check_target(path: Path, read: Iterable[guard.Read]) -> None:
    """Raise LogAnalystError for an unknown picture format, and for a file inside what was read."""
    if path.suffix.lower() not in FORMATS:
        raise LogAnalystError(path, f"unknown picture format {path.suffix!r}", f"allowed are {', '.join(FORMATS)}")
    guard.check([path], read)


def write(path: Path, fill: Callable[["Figure"], None]) -> None:
    """Write the figure that `fill` draws. Raises LogAnalystError where the file cannot be written."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    suffix, drawn = path.suffix.lower(), BytesIO()
    with mpl.rc_context(SETTINGS):
        figure = Figure(layout="constrained")
        fill(figure)
        figure.savefig(drawn, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=UNDATED[suffix])
    write_whole(path, drawn.getvalue(), "--plot takes a file")


def for_notebook(fill: Callable[["Figure"], None]) -> "Figure":
    """The figure that `fill` draws, as an object that a notebook shows."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        figure = _notebook_figure()(layout="constrained")
        fill(figure)
    return figure


@cache
def _notebook_figure() -> type["Figure"]:
    """A figure with a PNG for notebooks, which matplotlib gives only to figures of pyplot."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def _repr_png_(self) -> bytes:
            picture = BytesIO()
            self.savefig(picture, format="png", dpi=NOTEBOOK_DOTS_PER_INCH, facecolor="white")
            return picture.getvalue()

    return NotebookFigure


def literal(text: object, limit: int = 400) -> str:
    """One clean line in which `$` opens no formula."""
    return clean(text, limit).replace("$", r"\$")


def panel_title(ax: "Axes", title: str) -> None:
    """The title of one of many panels: small, at the left."""
    ax.set_title(title, loc="left", fontsize=8.5, pad=3)


def legend_below(figure: "Figure", handles: Sequence["Artist"], columns: int) -> None:
    """One legend for all panels, in at most `columns` columns; none without handles."""
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), columns), fontsize=7.5)


def number_format(digits: int) -> "FuncFormatter":
    """Tick labels with so many significant digits."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: f"{value:.{digits}g}")


def step_format() -> "FuncFormatter":
    """Tick labels of steps: 500, 2k, 1.5M."""
    from matplotlib.ticker import FuncFormatter

    def short(value: float, _: int | None = None) -> str:
        size, unit = next(((s, w) for s, w in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if abs(value) >= s), (1.0, ""))
        return f"{value / size:.4g}{unit}"

    return FuncFormatter(short)
