"""CSV: a header, a step column, one column a metric."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from formats.case import Case, Columns, Take, grow_lines, values


def write(folder: Path, rows: int, metrics: int) -> Path:
    path = folder / "metrics.csv"
    with path.open("w") as file:
        print("step", *values(0, metrics), sep=",", file=file)
        for step in range(rows):
            print(step, *values(step, metrics).values(), sep=",", file=file)
    return path


def pandas(**options: str) -> Take:
    """A wide frame of numbers."""
    import pandas as pd

    def take(path: Path) -> Callable[[], Columns]:
        wide = pd.read_csv(path, **options)
        return lambda: _long(wide)

    return take


def pandas_exact() -> Take:
    """As `pandas`, each number the nearest to its text."""
    return pandas(float_precision="round_trip")


def pandas_melt() -> Take:
    """As `pandas`, one row a number, as our readers give it."""
    import pandas as pd

    def take(path: Path) -> Callable[[], Columns]:
        frame = pd.read_csv(path).melt("step").dropna()
        return lambda: (frame["variable"].tolist(), frame["step"].to_numpy(), frame["value"].to_numpy())

    return take


def _long(wide: object) -> Columns:
    frame = wide.melt("step").dropna()
    return frame["variable"].tolist(), frame["step"].to_numpy(), frame["value"].to_numpy()


CASES = (Case("csv", write, (pandas, pandas_exact, pandas_melt), (1_000_000, 3), grow=partial(grow_lines, header=1)),)
