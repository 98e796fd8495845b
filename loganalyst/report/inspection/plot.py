"""A figure of the tensors of checkpoints: one row for each tensor, one panel for each quantity.

The same tensor of all layers is kept together, layer by layer, so that a change with depth shows as a slope or a step.
matplotlib is loaded on use.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from loganalyst import guard
from loganalyst.errors import LogAnalystError
from loganalyst.model import CheckpointScan, Inspection, TensorStats
from loganalyst.report.common.curvemarks import COLOURS
from loganalyst.report.common.figure import SERIES, check_target, legend_below, literal, panel_title, write
from loganalyst.report.common.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

LAYER_NUMBER = re.compile(r"(?<=\.)\d{1,9}(?=\.)")  # the 12 of `layers.12.weight`
MAX_LABELLED_ROWS = 70  # up to here each row has a name, above it each kind of tensor
ROW_HEIGHT, MIN_HEIGHT, MAX_HEIGHT = 0.17, 2.2, 15.0  # inches of a row, and of all rows
LABEL_HEIGHT = 0.12  # inches between two labels
NAME_LENGTH = 44  # characters


@dataclass(frozen=True)
class _Quantity:
    """A panel: its title, the value of each tensor, and whether its axis is logarithmic."""

    title: str
    of: Callable[[TensorStats], float | None]
    log: bool


def _rank_share(t: TensorStats) -> float | None:
    return None if t.effective_rank is None else 100 * t.effective_rank / min(t.shape[0], t.count // t.shape[0])


QUANTITIES = (
    _Quantity("size (root mean square)", lambda t: t.norm / sqrt(t.count) if t.norm and t.count else None, log=True),
    _Quantity("zeros, %", lambda t: 100 * t.zeros / t.count if t.count else None, log=False),
    _Quantity("largest singular value", lambda t: t.spectral_norm, log=True),
    _Quantity("effective rank, % of full", _rank_share, log=False),
)


def save(found: Inspection, path: Path) -> None:
    """Write the figure in the format of the path's suffix.

    Raises LogAnalystError where there is nothing to draw, or the file cannot be written or lies in a folder that was
    read.
    """
    check_target(path, [guard.Read(str(scan.path), what="checkpoint") for scan in found.checkpoints])
    names = _by_kind(list(dict.fromkeys(t.name for scan in found.checkpoints for t in scan.tensors if _drawn(t))))
    if not names:
        raise LogAnalystError(
            found.checkpoints[0].path, "no tensor to draw", "a checkpoint with floating-point tensors is needed"
        )
    write(path, lambda figure: _fill(figure, found, names))


def _by_kind(names: Sequence[str]) -> list[str]:
    """Kinds in the order of the file, and within a kind the layers in their order."""
    first = {kind: place for place, kind in reversed(list(enumerate(map(_kind, names))))}
    return sorted(names, key=lambda name: (first[_kind(name)], [int(n) for n in LAYER_NUMBER.findall(name)]))


def _kind(name: str) -> str:
    return LAYER_NUMBER.sub("*", name)


def _drawn(t: TensorStats) -> bool:
    return t.count > 0 and "float" in t.dtype


def _fill(figure: "Figure", found: Inspection, names: Sequence[str]) -> None:
    panels: list[tuple[str, list[Floats], bool]] = []
    for q in QUANTITIES:
        values = [_values(scan, names, q.of) for scan in found.checkpoints]
        if any(np.isfinite(v).any() and (q.title.startswith("size") or np.nanmax(v) > 0) for v in values):
            panels.append((q.title, values, q.log))
    if found.changes:
        moved = [{t.name: t.relative for t in change.tensors} for change in found.changes]
        values = [_floats([m.get(n) for n in names]) for m in moved]
        panels.append(("change since the one before", [np.full(len(names), np.nan), *values], True))
    height = min(max(ROW_HEIGHT * len(names), MIN_HEIGHT), MAX_HEIGHT)
    figure.set_size_inches(2.6 + 2.2 * len(panels), height + 0.9)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (title, values, log) in zip(axes, panels, strict=True):
        _panel(ax, title, values, log=log)
    _nonfinite(axes[0], found, names)
    _rows(axes[0], names)
    _title(figure, axes[0], found)


def _values(scan: CheckpointScan, names: Sequence[str], of: Callable[[TensorStats], float | None]) -> Floats:
    by_name = {t.name: of(t) for t in scan.tensors if _drawn(t)}
    return _floats([by_name.get(name) for name in names])


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if v is None or not np.isfinite(v) else v for v in values])


def _panel(ax: "Axes", title: str, values: Sequence[Floats], *, log: bool) -> None:
    """A dot for each tensor and checkpoint. The last checkpoint lies on top, with filled dots."""
    for number, series in enumerate(values):
        shown = np.where(series > 0, series, np.nan) if log else series
        last = number == len(values) - 1
        look: dict[str, Any] = {"fillstyle": "full" if last else "none", "linestyle": "none", "clip_on": False}
        ax.plot(shown, np.arange(shown.size), "o", markersize=3.5, color=SERIES[number % len(SERIES)], **look)
    if log and any((series > 0).any() for series in values):
        ax.set_xscale("log")
    elif not log:
        ax.set_xlim(0, 100)
    panel_title(ax, title)


def _nonfinite(ax: "Axes", found: Inspection, names: Sequence[str]) -> None:
    """A sign at the left edge of each row that holds NaN or Inf."""
    bad = {t.name for scan in found.checkpoints for t in scan.tensors if t.nonfinite}
    rows = [row for row, name in enumerate(names) if name in bad]
    if rows:
        look: dict[str, Any] = {"linestyle": "none", "clip_on": False, "zorder": 4}
        at = np.full(len(rows), 0.02)
        ax.plot(at, rows, "X", transform=ax.get_yaxis_transform(), color=COLOURS["nonfinite"], markersize=6,
                label="NaN or infinite", **look)  # fmt: skip


def _rows(ax: "Axes", names: Sequence[str]) -> None:
    """The names of the rows, the first tensor at the top."""
    rows = list(range(len(names)))
    shown = list(names)
    if len(names) > MAX_LABELLED_ROWS:
        kinds = list(map(_kind, names))
        apart = len(names) * LABEL_HEIGHT / MAX_HEIGHT  # height of a line of text, in rows
        first = [row for row in rows if row == 0 or kinds[row] != kinds[row - 1]]
        rows = [row for row, before in zip(first, [-apart, *first], strict=False) if row - before >= apart]
        shown = [kinds[row] for row in rows]
    shown = [literal(name, 200) for name in shown]
    ax.set_yticks(rows, [n if len(n) <= NAME_LENGTH else "…" + n[1 - NAME_LENGTH :] for n in shown])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", labelsize=6.5 if len(rows) > 20 else 7.5)


def _title(figure: "Figure", ax: "Axes", found: Inspection) -> None:
    from matplotlib.lines import Line2D

    parameters = count(found.checkpoints[-1].parameters, "parameter")
    figure.suptitle(f"{_name(found.checkpoints[-1])}: {parameters}", fontsize=10)
    handles, _ = ax.get_legend_handles_labels()
    if len(found.checkpoints) > 1:
        handles += [
            Line2D([], [], marker="o", linestyle="none", markersize=4, color=SERIES[i % len(SERIES)], label=_name(scan),
                   fillstyle="full" if i == len(found.checkpoints) - 1 else "none")
            for i, scan in enumerate(found.checkpoints)
        ]  # fmt: skip
    legend_below(figure, handles, 4)


def _name(scan: CheckpointScan) -> str:
    return literal(scan.path.name, 60)
