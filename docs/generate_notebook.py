"""Writes docs/notebooks/first-steps.ipynb with its outputs: `python docs/generate_notebook.py`. A test runs the cells.

The cells are run here, not by Jupyter: a notebook is JSON, its cells are Python, and what they show is `repr`, HTML or
a picture. So the tests need no kernel and no client, which bring dozens of packages. Jupyter opens the file as usual.
"""

import ast
import base64
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
NOTEBOOK = FOLDER / "first-steps.ipynb"
CELLS = [
    """# First steps

loganalyst reads what a training left on disk and says what went wrong, why, and what to change. This notebook uses runs
that come with the checkout; put the path of your own run in their place. Nothing is written into a run, and nothing is
sent anywhere.

Install it from the checkout with `pip install .`, and start Jupyter in this folder.""",
    """>>> from pathlib import Path

import loganalyst as la

runs = Path("../../fixtures/runs")""",
    """## What went wrong

`diagnose` takes a folder, a file or a job log.""",
    """>>> diagnosis = la.diagnose(runs / "nan-lr")
diagnosis""",
    """The answer is data. Causes come with the likeliest first, and each has its evidence. `holds` is True, False, or
None where what would show it was not logged; `weight` says how much it counted.""",
    """>>> cause = diagnosis.causes[0]
print(cause.issue, f"{cause.confidence:.0%}")
for evidence in sorted(cause.evidence, key=lambda e: -e.weight)[:4]:
    print(f"{evidence.weight:5.1f}  {evidence.text}")""",
    """What to change, and how to see whether it helped:""",
    """>>> fix = cause.fix[0]
print(fix.change, fix.expected_impact, fix.verify, sep="\\n")""",
    """## Look at the curves

`plot()` returns a matplotlib figure of the curves that tell most, with what was found on them. Name metrics to draw
others; give a path to write a file.""",
    """>>> diagnosis.plot(metrics=["train/loss", "train/grad_norm", "train/lr"])""",
    """## What was read

Every table is a polars frame, and every metric has a role: what it is, told from its name.""",
    """>>> diagnosis.run""",
    """>>> {metric.name: metric.role for metric in diagnosis.metrics}""",
    """>>> import polars as pl

losses = diagnosis.run.points.filter(pl.col("metric") == "train/loss")
losses.select("step", "value").tail(3)""",
    """## Many runs

A store remembers what was read. It is a folder of Parquet files; reading it again costs only what changed.""",
    """>>> import tempfile

store = la.Store(tempfile.mkdtemp())
outcomes = store.ingest([runs / name for name in ("nan-lr", "cuda-oom", "overfitting", "healthy-classifier")])
sorted(outcomes.values())""",
    """Each of its tables is a polars LazyFrame: `store.<Tab>` names them.""",
    """>>> (
    store.diagnoses.join(store.runs.select("run_id", "name"), on="run_id")
    .select("name", "status", "label", pl.col("confidence").round(2))
    .sort("name")
    .collect()
)""",
    """SQL does the same, here and as `loganalyst query` in a terminal. `DESCRIBE` lists the tables, `DESCRIBE
points` the columns of one with their units.""",
    """>>> from loganalyst import query

query.ask(
    store,
    "SELECT metric, count(*) AS points, min(value) AS least FROM points GROUP BY metric ORDER BY metric LIMIT 5",
)""",
    """## Did the fix help?

`verify` holds a new run against the old one, and against what the fix promised.""",
    """>>> verification = la.verify(runs / "divergence-lr", runs / "healthy-mended-rate")
print(verification.outcome, "-", verification.checks[0].why)""",
    """A diagnosis with a baseline says what was changed, and where the curves part.""",
    """>>> beside = la.diagnose(runs / "divergence-lr", baseline=runs / "healthy-mended-rate").baseline
print([(change.key, change.before, change.after) for change in beside.changes if change.section == "config"])
print(beside.parted[0].metric, "parts at step", beside.parted[0].step)""",
    """## A wrong answer?

Show us the run without showing whose it was: [A run without names](../anonymous.md) says what is in this text.""",
    """>>> from loganalyst import anonymous

text = anonymous.render(diagnosis)
print(*text.splitlines()[:9], sep="\\n")""",
]
CODE = ">>> "


def main() -> None:
    """Run the cells and write the notebook."""
    FOLDER.mkdir(exist_ok=True)
    NOTEBOOK.write_text(json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(NOTEBOOK)


def notebook() -> dict[str, Any]:
    """The notebook as data, its cells run one after another in its folder."""
    shared: dict[str, Any] = {}
    with contextlib.chdir(FOLDER):
        cells = [_cell(i, text, shared) for i, text in enumerate(CELLS)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(number: int, text: str, shared: dict[str, Any]) -> dict[str, Any]:
    base = {"id": f"cell-{number}", "metadata": {}}
    if not text.startswith(CODE):
        return {"cell_type": "markdown", **base, "source": _lines(text)}
    code = text.removeprefix(CODE)
    count = sum(cell.startswith(CODE) for cell in CELLS[: number + 1])
    told = {"execution_count": count, "outputs": run(code, shared, count), "source": _lines(code)}
    return {"cell_type": "code", **base, **told}


def run(code: str, shared: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell printed, and what its last expression shows itself as."""
    tree, value = ast.parse(code), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), shared)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), shared)
    text = printed.getvalue()
    outputs: list[dict[str, Any]] = [{"name": "stdout", "output_type": "stream", "text": _lines(text)}] if text else []
    if value is None:
        return outputs
    return [*outputs, {"data": shown(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"}]


def shown(value: object) -> dict[str, Any]:
    """What a notebook asks a value for."""
    data: dict[str, Any] = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_") and (text := value._repr_html_()):
        data["text/html"] = _lines(text)
    if hasattr(value, "_repr_png_"):
        data["image/png"] = base64.b64encode(value._repr_png_()).decode() + "\n"
        data["text/plain"] = [f"<Figure with {len(value.axes)} panels>"]  # type: ignore[attr-defined]
    return data


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    main()
