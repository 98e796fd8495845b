"""Write docs/notebooks/first-steps.ipynb with its outputs: `python docs/generate_notebook.py`. A test runs the cells.

This module runs the cells itself: a notebook is JSON, its cells are Python, and its outputs are `repr`, HTML or a
picture. So tests need no Jupyter kernel and no client, which bring dozens of packages. Jupyter opens the file as usual.
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

loganalyst reads the files that a training left on disk. It reports what went wrong, why, and what to change. This
notebook uses runs of the checkout; replace them with the path of your own run. loganalyst never writes into a run, and
sends nothing anywhere.

Install it from the checkout with `pip install .`, and start Jupyter in this folder.""",
    """>>> from pathlib import Path

import loganalyst as la

runs = Path("../../fixtures/runs")""",
    """## What went wrong

`diagnose` takes a folder, a file or a job log.""",
    """>>> diagnosis = la.diagnose(runs / "nan-lr")
diagnosis""",
    """The answer is data. The likeliest cause comes first, and each has its evidence. `holds` is True, False, or None
if the needed values were not logged. `weight` says how much it counted.""",
    """>>> cause = diagnosis.causes[0]
print(cause.issue, f"{cause.confidence:.0%}")
for evidence in sorted(cause.evidence, key=lambda e: -e.weight)[:4]:
    print(f"{evidence.weight:5.1f}  {evidence.text}")""",
    """The fix says what to change, and how to check whether it helped:""",
    """>>> fix = cause.fix[0]
print(fix.change, fix.expected_impact, fix.verify, sep="\\n")""",
    """## Look at the curves

`plot()` returns a matplotlib figure of the most informative curves, with the findings marked. Name metrics to draw
others; give a path to write a file.""",
    """>>> diagnosis.plot(metrics=["train/loss", "train/grad_norm", "train/lr"])""",
    """## What was read

Every table is a polars frame. Every metric has a role, recognised by its trainer or its name.""",
    """>>> diagnosis.run""",
    """>>> {metric.name: metric.role for metric in diagnosis.metrics}""",
    """>>> import polars as pl

losses = diagnosis.run.points.filter(pl.col("metric") == "train/loss")
losses.select("step", "value").tail(3)""",
    """## Many runs

A store keeps what was read, as a folder of Parquet files. The next `ingest` reads only what changed.""",
    """>>> import tempfile

store = la.Store(tempfile.mkdtemp())
outcomes = store.ingest([runs / name for name in ("nan-lr", "cuda-oom", "overfitting", "healthy-classifier")])
sorted(outcomes.values())""",
    """Each of its tables is a polars LazyFrame; `store.<Tab>` lists them.""",
    """>>> (
    store.diagnoses.join(store.runs.select("run_id", "name"), on="run_id")
    .select("name", "status", "label", pl.col("confidence").round(2))
    .sort("name")
    .collect()
)""",
    """SQL works too, here and as `loganalyst query` in a terminal. `DESCRIBE` lists the tables, `DESCRIBE
points` the columns of one with their units.""",
    """>>> from loganalyst import query

query.ask(
    store,
    "SELECT metric, count(*) AS points, min(value) AS least FROM points GROUP BY metric ORDER BY metric LIMIT 5",
)""",
    """## Did the fix help?

`verify` compares a new run with the old one, and with the promise of the fix.""",
    """>>> verification = la.verify(runs / "divergence-lr", runs / "healthy-mended-rate")
print(verification.outcome, "-", verification.checks[0].why)""",
    """A diagnosis with a baseline reports what changed, and where the curves diverge.""",
    """>>> compared = la.diagnose(runs / "divergence-lr", baseline=runs / "healthy-mended-rate").baseline
print([(change.key, change.before, change.after) for change in compared.changes if change.section == "config"])
print(compared.parted[0].metric, "diverges at step", compared.parted[0].step)""",
    """## A wrong answer?

Send us the run without names, paths and text: [A run without names](../anonymous.md) explains this output.""",
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
    """The notebook as data, with all cells run in order in its folder."""
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
    executed = {"execution_count": count, "outputs": run(code, shared, count), "source": _lines(code)}
    return {"cell_type": "code", **base, **executed}


def run(code: str, shared: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The outputs of a cell: printed text, and the value of its last expression."""
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
    """The representations of a value that a notebook displays."""
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
