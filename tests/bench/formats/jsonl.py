"""JSON lines: one object a step."""

import json
from collections.abc import Callable
from pathlib import Path

from formats.case import Case, Columns, Take, grow_lines, transposed, values


def write(folder: Path, rows: int, metrics: int) -> Path:
    path = folder / "metrics.jsonl"
    with path.open("w") as file:
        for step in range(rows):
            print(json.dumps({"step": step, **values(step, metrics)}), file=file)
    return path


def json_lines() -> Take:
    """The standard library, a list of rows."""

    def take(path: Path) -> Callable[[], Columns]:
        with path.open() as file:
            rows = [json.loads(line) for line in file]
        return lambda: transposed([(k, row["step"], v) for row in rows for k, v in row.items() if k != "step"])

    return take


def json_pandas() -> Take:
    """The standard library's rows as a frame, as notebooks do."""
    import pandas as pd

    def take(path: Path) -> Callable[[], Columns]:
        with path.open() as file:
            wide = pd.DataFrame([json.loads(line) for line in file])
        frame = wide.melt("step")
        return lambda: (frame["variable"].tolist(), frame["step"].to_numpy(), frame["value"].to_numpy())

    return take


CASES = (Case("jsonl", write, (json_lines, json_pandas), (1_000_000, 5), grow=grow_lines),)
