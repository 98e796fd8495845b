"""A figure of a run: its curves with what was found marked, the learning rate under them. matplotlib is loaded on use.

Nothing is written but the file asked for, and none of the run's own folder; the same diagnosis gives the same bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from loganalyst import guard
from loganalyst.errors import LogAnalystError, SourceError, nearest
from loganalyst.model import Curve, Diagnosis
from loganalyst.report.common.scale import FEWEST, aligned
from loganalyst.report.common.wording import clean, percent
from loganalyst.report.diagnosis.document import document, shown_curves
from loganalyst.report.diagnosis.panels import COLOURS, MARKS, draw, legend, steps_short
from loganalyst.writing import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
MOST = 12  # panels of one figure
RATE = "learning_rate"
WIDTH, HEIGHT, LOW = 7.2, 1.75, 0.55  # inches: of one column, of a panel; height of the rate's against a panel's
MORE_COLUMNS = ((4, 1), (8, 2))  # up to so many panels, so many columns; else three
SETTINGS: Any = {
    "svg.hashsalt": "loganalyst",
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
DOTS = 110  # an inch of a picture in a notebook
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}


def save(diagnosis: Diagnosis, path: Path, metrics: Sequence[str] = ()) -> None:
    """Write the figure of `metrics` (of none named: those that tell most, twelve at most) in the format of its suffix.

    Raises LogAnalystError where the file cannot be written or lies inside the run, SourceError for an unknown metric.
    """
    check(path, [guard.of_run(diagnosis.run)])
    curves = _asked(diagnosis, metrics)
    write(path, lambda figure: _fill(figure, diagnosis, curves))


def drawn(diagnosis: Diagnosis, metrics: Sequence[str] = ()) -> "Figure":
    """The figure that `save` would write, as an object that a notebook shows."""
    import matplotlib as mpl

    curves = _asked(diagnosis, metrics)
    with mpl.rc_context(SETTINGS):
        figure = _shown()(layout="constrained")
        _fill(figure, diagnosis, curves)
    return figure


@cache
def _shown() -> type["Figure"]:
    """A figure with the picture that a notebook asks for: without pyplot, matplotlib gives it none."""
    from matplotlib.figure import Figure

    class Shown(Figure):
        def _repr_png_(self) -> bytes:
            picture = BytesIO()
            self.savefig(picture, format="png", dpi=DOTS, facecolor="white")
            return picture.getvalue()

    return Shown


def _asked(diagnosis: Diagnosis, metrics: Sequence[str]) -> list[Curve]:
    curves = [_named(diagnosis, m) for m in metrics] if metrics else chosen(diagnosis)
    if not curves:
        raise LogAnalystError(diagnosis.run.path, "no curve to draw", "a run with at least one logged metric is needed")
    return curves


def check(path: Path, read: Iterable[guard.Read]) -> None:
    """Raise LogAnalystError for a picture's format that is not known, and for a file inside of what was read."""
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
        figure.savefig(drawn, format=suffix[1:], dpi=150, metadata=UNDATED[suffix])
    write_whole(path, drawn.getvalue(), "--plot takes a file")


def chosen(d: Diagnosis) -> list[Curve]:
    """The curves that tell most: those of the first cause and the symptoms, the usual ones, then by name those that
    changed most and those with most points; the learning rate last, for it stands under the others.
    """
    first = shown_curves(d)
    changed = d.findings.sort("significance", descending=True, nulls_last=True)["metric"].unique(maintain_order=True)
    by_name = {c.metric: c for c in d.curves if len(c.values) and c.role.judged and c.role.name != RATE}
    more = [by_name[m] for m in changed if m in by_name]
    moving = (c for c in by_name.values() if len(c.values) >= FEWEST and (c.values != c.values[0]).any())
    rest = sorted(moving, key=lambda c: -len(c.values))
    told = list({c.metric: c for c in [*first, *more, *rest]}.values())[:MOST]
    lead = {c.metric: i for i, c in enumerate(first)}
    return sorted(told, key=lambda c: (c.role.name == RATE, lead.get(c.metric, len(lead)), c.metric))


def _named(d: Diagnosis, metric: str) -> Curve:
    by_name = {c.metric: c for c in d.curves if len(c.values)}
    if metric not in by_name:
        hint = nearest(metric, by_name) or f"loganalyst show {d.run.path} lists them"
        raise SourceError(d.run.path, f"no metric {metric!r}", hint)
    return by_name[metric]


def _fill(figure: "Figure", d: Diagnosis, curves: Sequence[Curve]) -> None:
    """Panels in rows; a learning rate gets a low one under every column."""
    rates = [c for c in curves if c.role.name == RATE]
    large = [c for c in curves if c.role.name != RATE] or rates
    low = rates if large is not rates else []
    columns = next((n for most, n in MORE_COLUMNS if len(large) <= most), 3)
    rows = -(-len(large) // columns)
    cells: list[Curve | None] = [*large, *[None] * (rows * columns - len(large))]
    for rate in low:  # a constant one tells all in one panel
        cells += [rate] * columns if np.ptp(rate.values) > 0 else [rate, *[None] * (columns - 1)]
    wide = WIDTH if columns == 1 else WIDTH * 0.62 * columns
    figure.set_size_inches(wide, 0.9 + HEIGHT * (rows + LOW * len(low)))
    heights = [*[1.0] * rows, *[LOW] * len(low)]
    axes = figure.subplots(len(heights), columns, squeeze=False, gridspec_kw={"height_ratios": heights})
    onset = d.causes[0].onset_step if d.causes else None
    busiest = max(large, key=lambda c: len(c.values))
    blamed = next((c for c in d.curves if d.causes and c.metric == d.causes[0].metric and len(c.values)), busiest)
    panels: list[tuple[Axes, Curve]] = []
    for ax, curve in zip(axes.flat, cells, strict=True):
        if curve is None:
            ax.set_axis_off()
            continue
        draw(ax, curve, d.findings, onset if aligned(curve, blamed) else None, width=round(60 / columns**0.6))
        panels.append((ax, curve))
    _axes(panels, busiest)
    _title(figure, d, len(large), onset)


def _axes(panels: Sequence[tuple["Axes", Curve]], busiest: Curve) -> None:
    """One step axis for all that count the same; its numbers stand under the lowest panel of each column."""
    shared = [ax for ax, curve in panels if aligned(curve, busiest)]
    for one, other in pairwise(shared):
        other.sharex(one)
    lowest = {ax.get_subplotspec().colspan.start: ax for ax in shared}  # type: ignore[union-attr]
    for ax, _ in panels:
        ax.xaxis.set_major_formatter(steps_short())
        own = ax not in shared
        ax.tick_params(labelbottom=own or ax in lowest.values())
        if own or ax in lowest.values():
            ax.set_xlabel("step (as this metric counts)" if own else "step")


def _title(figure: "Figure", d: Diagnosis, drawn: int, onset: int | None) -> None:
    doc = document(d)
    told = f"{clean(doc.name, 40)}: {clean(doc.verdict, 60)} ({percent(d.confidence)})"
    figure.suptitle(literal(told), fontsize=10)
    kinds = [*MARKS, *(["onset"] if onset is not None else [])]
    handles = legend(figure, kinds)
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6), fontsize=7.5)
    judged = sum(c.role.judged and len(c.values) > 0 for c in d.curves)
    if drawn < judged and drawn == MOST:
        figure.text(
            0.995,
            0.005,
            f"{drawn} of {judged} judged metrics",
            ha="right",
            va="bottom",
            fontsize=7,
            color=COLOURS["quiet"],
        )


def literal(text: str) -> str:
    """Text in which `$` opens no formula."""
    return text.replace("$", r"\$")
