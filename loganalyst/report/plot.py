"""One picture of a run: the curves that tell the story, with what was found marked. matplotlib is loaded on use."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loganalyst.errors import LogAnalystError
from loganalyst.model import Curve, Diagnosis
from loganalyst.report.document import document, shown_curves
from loganalyst.report.text import clean, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")
MARKS = {"nonfinite": "tab:red", "divergence": "tab:brown", "spike": "tab:orange", "lr_drop": "tab:gray"}


def save(diagnosis: Diagnosis, path: Path) -> None:
    """Write the picture to `path`, in the format of its suffix; LogAnalystError where that cannot be."""
    from matplotlib.figure import Figure

    if path.suffix.lower() not in FORMATS:
        raise LogAnalystError(path, f"unknown picture format {path.suffix!r}", f"allowed are {', '.join(FORMATS)}")
    curves = shown_curves(diagnosis)
    if not curves:
        raise LogAnalystError(diagnosis.run.path, "no curve to draw", "a run with at least one logged metric is needed")
    figure = Figure(figsize=(9, 1.2 + 2 * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), sharex=True, squeeze=False)[:, 0]
    for ax, curve in zip(axes, curves, strict=True):
        _draw(ax, curve, diagnosis)
    axes[-1].set_xlabel("step")
    doc = document(diagnosis)
    figure.suptitle(_literal(f"{doc.name}: {doc.verdict} ({percent(diagnosis.confidence)})"))
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise LogAnalystError(path, f"cannot be written ({error.strerror})", "--plot takes a file") from None


def _draw(ax: "Axes", curve: Curve, diagnosis: Diagnosis) -> None:
    finite = np.isfinite(curve.values)
    values = curve.values[finite]
    ax.plot(curve.steps[finite], values, linewidth=1, marker="." if len(values) < 60 else None)
    if len(values) and values.min() > 0 and values.max() > 50 * values.min():
        ax.set_yscale("log")
    ax.set_ylabel(_literal(clean(curve.metric, 40)))
    found = diagnosis.findings.filter(pl.col("metric") == curve.metric, pl.col("step").is_not_null())
    for kind, steps in found.group_by("kind", maintain_order=True).agg("step").iter_rows():
        for i, step in enumerate(steps):
            ax.axvline(step, color=MARKS.get(kind, "tab:purple"), alpha=0.6, label=kind if i == 0 else None)
    if found.height:
        ax.legend(loc="best", fontsize="small")


def _literal(text: str) -> str:
    """Text in which `$` opens no formula."""
    return text.replace("$", r"\$")
