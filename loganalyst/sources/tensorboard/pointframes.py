"""The points of event files as frames. Batches share the memory of columns that are equal."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import SCHEMAS, constant, table
from loganalyst.sources.files.timestamps import from_seconds

Columns = tuple[NDArray[Any], ...]  # tag code, step, wall time and value of scalars


class PointFrames:
    """Makes the points of one file, whose tags have codes from 0 on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes: dict[str, int] = {}
        self.constants: dict[str, pl.Series] = {}
        self.named: tuple[NDArray[np.int64] | None, pl.Series] = None, pl.Series(dtype=pl.String)

    def code(self, tag: str) -> int:
        """The code of a tag."""
        return self.codes.setdefault(tag, len(self.codes))

    def points(self, parts: list[Columns]) -> pl.DataFrame:
        """The scalars of a batch in file order."""
        if not parts:
            return table("points")
        with np.errstate(invalid="ignore"):
            codes, steps, walls, values = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        n = len(codes)
        frame: dict[str, Any] = {
            "session": self._constant("session", 0, n),
            "metric": self._metrics(codes),
            "step": steps,
            "epoch": self._constant("epoch", None, n),
            "time": from_seconds(walls),
            "value": pl.Series(values).cast(pl.Float64),
            "source": self._constant("source", self.name, n),
            "line": self._constant("line", None, n),
        }
        return pl.DataFrame([pl.Series(name, column) for name, column in frame.items()])

    def _metrics(self, codes: NDArray[np.int64]) -> pl.Series:
        """The names of tags. Batches with the same array of codes share memory."""
        if codes is not self.named[0]:
            names = pl.Series(list(self.codes), dtype=pl.String)
            self.named = codes, names[codes.astype(np.uint32)]
        return self.named[1]

    def _constant(self, name: str, value: object, rows: int) -> pl.Series:
        """A column with the same value in all rows. It is made once, and batches share its memory."""
        if name not in self.constants or len(self.constants[name]) < rows:
            self.constants[name] = constant(value, rows, SCHEMAS["points"][name])
        return self.constants[name].head(rows)
