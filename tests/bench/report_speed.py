"""What a report costs: CPU milliseconds and size of every form, `python -m tests.bench.report_speed [POINTS]`.

One run of six metrics, POINTS values in all (60,000): a loss that leaves its trend and turns NaN, its held-out loss,
the norm of the gradient, the rate, an accuracy and the memory of a GPU. The least of five, modules loaded.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import loganalyst
from loganalyst.report.diagnosis import asjson, html, markdown, sarif, terminal

FORMS: dict[str, Callable[..., str]] = {
    "terminal": terminal.render,
    "markdown": markdown.render,
    "json": asjson.render,
    "sarif": lambda diagnosis: sarif.render([diagnosis], Path()),
    "html": html.render,
}
ROUNDS = 5


def table(points: int) -> str:
    """The run as CSV."""
    n = points // 6
    steps, rng = np.arange(n), np.random.default_rng(7)
    late = np.maximum(steps - 0.8 * n, 0) / n
    loss = 0.5 + 2 * np.exp(-5 * steps / n) + 400 * late**2 + rng.normal(0, 0.02, n)
    loss[-n // 50 :] = np.nan
    columns = {
        "step": steps,
        "train/loss": loss,
        "val/loss": 0.6 + 2 * np.exp(-5 * steps / n) + 400 * late**2 + rng.normal(0, 0.01, n),
        "grad_norm": np.exp(rng.normal(0, 0.3, n) + 20 * late),
        "lr": 1e-3 * np.minimum(steps / 500, 1),
        "val/accuracy": 0.9 - 0.8 * np.exp(-4 * steps / n) + rng.normal(0, 0.01, n),
        "gpu_memory": 1e10 + 1e4 * steps + rng.normal(0, 1e7, n),
    }
    rows = (",".join(f"{v:.8g}" for v in row) for row in zip(*columns.values(), strict=True))
    return "\n".join([",".join(columns), *rows]) + "\n"


def main(points: int) -> None:
    """Print a line a form."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "metrics.csv").write_text(table(points))
        diagnosis = loganalyst.diagnose(folder)
    print(f"{diagnosis.run.points.height:,} points, {[c.id for c in diagnosis.causes]}")
    for form, render in FORMS.items():
        spent = []
        for _ in range(ROUNDS):
            start = time.process_time()
            text = render(diagnosis)
            spent.append(time.process_time() - start)
        print(f"{form:9} {1000 * min(spent):6.0f} ms   {len(text.encode()) / 1e6:6.3f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)
