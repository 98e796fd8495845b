"""The figures as a table for the terminal, and the reliability diagram."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.writing import write_whole

SHARES = {
    "first": "first answer right",
    "three": "one of three right",
    "sick_first": "sick runs: first cause right",
    "sick_three": "sick runs: one of three right",
    "false_alarms": "healthy runs called sick",
    "sick_called_healthy": "sick runs called healthy",
    "sure_right": "right where stated at 0.90 or more",
}
DRAWN = {"brier": "Brier score", "calibration_error": "calibration error"}


def table(figures: Mapping[str, Any]) -> str:
    """The figures with 95 % intervals, and the figures by label and group."""
    return "".join(f"{line}\n" for line in _lines(figures))


def _lines(figures: Mapping[str, Any]) -> Iterator[str]:
    yield f"{figures['runs']} runs, {figures['judged']} answers with a confidence"
    for key, title in SHARES.items():
        share = figures[key]
        value, low, high = (_percent(share[k]) for k in ("value", "low", "high"))
        yield f"{title:36} {value} ({low} to {high}) of {share['of']}"
    for key, title in DRAWN.items():
        figure = figures[key]
        yield f"{title:36} {figure['value']:6.3f} ({figure['low']:.3f} to {figure['high']:.3f})"
    yield f"{'F1 over the labels':36} {figures['macro_f1']:6.3f}"
    onset = figures["onset"]
    yield (
        f"{'onset':36} median {onset['median']:.0f} steps away, {_percent(onset['near'])} within 5 % of the run, "
        f"of {onset['runs']}"
    )
    yield f"\n{'label':24}{'runs':>6}{'precision':>11}{'recall':>9}{'F1':>8}"
    for label, row in figures["classes"].items():
        yield f"{label:24}{row['runs']:6}{row['precision']:11.2f}{row['recall']:9.2f}{row['f1']:8.2f}"
    for key, groups in figures["groups"].items():
        yield f"\n{key:24}{'runs':>6}{'first':>11}{'three':>9}"
        for name, row in groups.items():
            yield f"{name:24}{row['runs']:6}{row['first']:11.2f}{row['three']:9.2f}"


def _percent(value: float) -> str:
    return f"{value:6.1%}"


def wrong(answers: pl.DataFrame) -> str:
    """Each run whose first answer is wrong: its path, the truth and the answer."""
    rows = answers.filter(~pl.col("first")).sort("path").iter_rows(named=True)
    return "".join(
        f"{row['path']}  {row['family']} {row['injected']} {row['writer']}  {', '.join(row['labels'])}  "
        f"{row['status']}: {', '.join(row['ids']) or '-'} {row['confidence'] or 0:.2f}\n"
        for row in rows
    )


def plot(figures: Mapping[str, Any], path: Path) -> None:
    """The reliability diagram: the share of right answers in each bin of confidence, with its size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", lw=1)
    sure, right = ([row[key] for row in figures["bins"]] for key in ("confidence", "right"))
    axes.plot(sure, right, "o-", color="C0")
    for row in figures["bins"]:
        axes.annotate(f"{row['of']}", (row["confidence"], row["right"]), (6, -10), textcoords="offset points", size=8)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="stated confidence", ylabel="share that was right", aspect="equal")
    error, answers = figures["calibration_error"]["value"], figures["judged"]
    axes.set_title(f"calibration error {error:.3f}, {answers} answers", size=10)
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], metadata={"Software": None} if path.suffix == ".png" else None)
    write_whole(path, drawn.getvalue(), "--plot takes a file")
