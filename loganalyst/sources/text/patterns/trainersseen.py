"""The lines of a log that show which trainer prints it: of each text of `witnesses.lines` the first."""

import json

import msgspec
import numpy as np
import polars as pl

from loganalyst.model import table
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberrecords import Integers
from loganalyst.sources.text.starts import Starts

PATTERN = "trainer-line"
MAX_TEXT_CHARS = 200  # characters of a line that are kept


class TrainersSeen(msgspec.Struct):
    """By text: the number of the first line that has it, and that line. It passes to a reading that goes on."""

    file: str
    first: dict[str, tuple[int, str]] = msgspec.field(default_factory=dict)

    def add(self, chunk: Chunk, rows: Integers, numbers: Integers, texts: tuple[str, ...]) -> None:
        """Note the texts found in the rows of a batch: number -1 is the first of `texts`, -2 the second."""
        for number in np.unique(numbers[numbers < 0]).tolist():
            row = rows[numbers == number].min()
            line = (int(chunk.line[row]), chunk.some(np.array([row]))[0][:MAX_TEXT_CHARS])
            self.first.setdefault(texts[-1 - number], line)

    def table(self, starts: Starts) -> pl.DataFrame:
        """The rows of `lines`, in the order of the texts."""
        seen = sorted(self.first.items())
        line = np.array([number for _, (number, _) in seen], np.int64)
        return table("lines", {
            "session": starts.at(line), "file": self.file, "line": line, "pattern": PATTERN, "part": "advice",
            "captures": [json.dumps({"witness": text}) for text, _ in seen], "text": [text for _, (_, text) in seen],
        })  # fmt: skip
