"""The files that belong to a diagnosis: its curves, a heat map of gradients, an analysis of gradients, scripts."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from loganalyst import guard
from loganalyst.errors import LogAnalystError
from loganalyst.model import Curve, Diagnosis
from loganalyst.report.common.figure import check_target, literal, step_format, write
from loganalyst.report.common.markdowntext import escape, table
from loganalyst.report.common.wording import clean, number, step
from loganalyst.report.diagnosis import plot
from loganalyst.report.diagnosis.html.heat import ROLE, Heat, heat
from loganalyst.report.diagnosis.html.plotlayout import steps_axis
from loganalyst.writing import write_new, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save", "save_scripts"]

PLOT, HEAT_MAP, ANALYSIS = "loss_plot.png", "gradient_heatmap.png", "grad_analysis.md"
GRADIENTS = ("grad_norm", ROLE)
MAX_LAYERS = 200  # rows of the analysis
MAX_LABELS = 24  # names beside the heat map
HEAT_SIZE = (7.2, 3.6)  # inches


def save(d: Diagnosis, folder: Path) -> dict[str, Path]:
    """Write what can be drawn of a diagnosis into `folder`, which is made if it is missing. Returns the files by name.

    `loss_visualization` has the most informative curves, `gradient_heat_map` the gradients by layer, and
    `gradient_analysis` their numbers. Without such curves a file is left out. Raises LogAnalystError for a folder
    inside the run, and where a file cannot be written.
    """
    files = {name: folder / file for name, file in _wanted(d)}
    for path in files.values():
        guard.check([path], [guard.of_run(d.run)])
    _make(folder)
    if "loss_visualization" in files:
        plot.save(d, files["loss_visualization"])
    if (map_ := _heat(d)) and "gradient_heat_map" in files:
        check_target(files["gradient_heat_map"], [guard.of_run(d.run)])
        write(files["gradient_heat_map"], lambda figure: _draw(figure, map_))
    if "gradient_analysis" in files:
        write_whole(files["gradient_analysis"], _analysis(d), "--artifacts takes a folder")
    return files


def save_scripts(d: Diagnosis, folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write the scripts that would decide (`texts` by name), and the code for the fixes of the likely causes.

    A file that is there already is left as it is. Raises LogAnalystError as `save` does.
    """
    wanted = {f"{s.name}.py": texts[s.name] for s in d.scripts if s.name in texts}
    wanted |= {
        f"fix_{t.id.replace('-', '_')}_{t.framework}.py": f'"""{t.title}."""\n\n{t.code}'
        for cause in d.causes
        if cause.verdict == "likely"
        for t in cause.templates
    }
    guard.check([folder / name for name in wanted], [guard.of_run(d.run)])
    if wanted:
        _make(folder)
    for name, text in wanted.items():
        _keep_or_write(folder / name, text)
    return [folder / name for name in wanted]


def _keep_or_write(path: Path, text: str) -> None:
    if not path.exists():
        write_new(path, text, "--scripts takes a folder")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogAnalystError(folder, f"cannot be made ({error.strerror})", "a folder is needed") from None


def _wanted(d: Diagnosis) -> Iterator[tuple[str, str]]:
    """The files that can be made."""
    if plot.chosen(d):
        yield "loss_visualization", PLOT
    if _heat(d) is not None:
        yield "gradient_heat_map", HEAT_MAP
    if any(_gradients(d)):
        yield "gradient_analysis", ANALYSIS


def _gradients(d: Diagnosis) -> Iterator[Curve]:
    """The gradient norms: of the whole model first, then of its layers."""
    for role in GRADIENTS:
        yield from (c for c in d.curves if c.role.name == role and len(c.values))


def _heat(d: Diagnosis) -> Heat | None:
    drawn = [c for c in d.curves if len(c.steps)]
    return heat(d, steps_axis(drawn)) if drawn else None


def _draw(figure: "Figure", map_: Heat) -> None:
    """The sizes as colours on a logarithmic scale; NaN and infinity in a colour of their own."""
    from matplotlib.colors import LogNorm

    figure.set_size_inches(*HEAT_SIZE)
    ax = figure.subplots()
    low, high = map_.ends
    shown = np.ma.masked_invalid(np.where(np.isfinite(map_.values), np.maximum(map_.values, low), np.nan))
    extent = (map_.x.low, map_.x.high, len(map_.layers), 0)
    image = ax.imshow(
        shown, aspect="auto", interpolation="nearest", extent=extent, norm=LogNorm(low, max(high, low * 1.001))
    )
    broken = np.ma.masked_where(~np.isinf(map_.values), np.ones(map_.values.shape))
    ax.imshow(broken, aspect="auto", interpolation="nearest", extent=extent, cmap="autumn", vmin=1, vmax=2)
    each = -(-len(map_.names) // MAX_LABELS)
    ax.set_yticks(np.arange(0, len(map_.names), each) + 0.5, [literal(name) for name in map_.names[::each]])
    ax.grid(visible=False)
    ax.set_xlabel("step")
    ax.xaxis.set_major_formatter(step_format())
    nan = ", red: NaN or infinite" if np.isinf(map_.values).any() else ""
    ax.set_title(f"Gradient by layer{nan}", loc="left")
    figure.colorbar(image, ax=ax, label="gradient norm")


def _analysis(d: Diagnosis) -> str:
    """The gradient norms in numbers, the largest rise first among layers."""
    rows = [_row(curve) for curve in _gradients(d)]
    more = f"\n\n{len(rows) - MAX_LAYERS} more are not listed." if len(rows) > MAX_LAYERS else ""
    head = ("Gradient", "First", "Median", "Largest", "At step", "Last", "Not finite")
    said = [f"- {escape(clean(s.text, 240))}" for s in d.symptoms if s.metric in {c.metric for c in _gradients(d)}]
    found = "\n".join(["", "", "## What was observed", "", *said]) if said else ""
    name = escape(clean(d.run.name or str(d.run.path), 80))
    return f"# Gradients of {name}\n\n{table(head, rows[:MAX_LAYERS])}{more}{found}\n"


def _row(curve: Curve) -> tuple[str, ...]:
    finite = np.isfinite(curve.values)
    broken = f"{int((~finite).sum()):,} of {len(finite):,}"
    if not finite.any():
        return (clean(curve.metric, 120), *["–"] * 5, broken)
    values, steps = curve.values[finite], curve.steps[finite]
    top = int(np.argmax(values))
    sizes = (values[0], float(np.median(values)), values[top])
    return (
        clean(curve.metric, 120),
        *(number(float(v)) for v in sizes),
        step(int(steps[top])),
        number(float(values[-1])),
        broken,
    )
