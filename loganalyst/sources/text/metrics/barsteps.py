"""Steps of lines that print only a part of an epoch: from the progress bar that they were printed over.

The Trainer of transformers prints `{'loss': 2.1, 'epoch': 0.08}` over the bar `| 10/375 [` of the whole training.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberrecords import Records
from loganalyst.thresholds import reading_limit

BAR = r"\|\s*([0-9]{1,12})/([0-9]{1,12}) \["  # `| 10/375 [` of tqdm
MAX_ROWS_BACK = 3  # rows back on the same line: the bar, and the blanks that erased it
MAX_EPOCHS_TRIED = 100  # numbers of epochs that are tried on either side


class Pace(NamedTuple):
    """The total steps of a bar, and the steps it showed (`bar`) when `epoch` was printed: for the last line over the
    longest bar of a session.
    """

    total: float
    epoch: float
    bar: float

    def steps(self) -> float:
        """Steps per epoch: a divisor of the total, if one is close, so that there are whole epochs."""
        pace = self.bar / self.epoch
        epochs = round(self.total / pace)
        tolerance = reading_limit("bar_pace_tolerance")
        off = min(int(tolerance * epochs) + 1, MAX_EPOCHS_TRIED)
        whole = [self.total / n for n in range(max(epochs - off, 1), epochs + off + 1) if self.total % n == 0]
        closest = min(whole, key=lambda steps: abs(steps - pace), default=pace)
        return closest if abs(closest - pace) <= tolerance * pace else pace


def paces(chunk: Chunk, records: Records, first: int) -> dict[int, Pace]:
    """The pace of each session of a batch that shows one; `first` is the number of the batch's first row."""
    alone = np.isnan(records.step) & np.isnan(records.batch) & (records.epoch > 0) & ~records.held_out & ~records.header
    rows = records.row[alone] - first
    bar = pl.DataFrame({"at": np.arange(0), "bar": np.empty(0), "total": np.empty(0)})
    for back in range(1, MAX_ROWS_BACK + 1):
        at = np.flatnonzero(chunk.line[np.maximum(rows - back, 0)] == chunk.line[rows])
        at = np.setdiff1d(at[rows[at] >= back], bar["at"].to_numpy())
        if len(at):
            text = chunk.some(rows[at] - back)
            numbers = (text.str.extract(BAR, k).cast(pl.Float64).alias(name) for k, name in ((1, "bar"), (2, "total")))
            bar = pl.concat([bar, pl.DataFrame([pl.Series("at", at), *numbers]).drop_nulls()])
    at = bar["at"].to_numpy()
    shown = bar.with_columns(
        pl.Series("session", records.session[alone][at]), pl.Series("epoch", records.epoch[alone][at])
    )
    last = shown.filter(pl.col("bar") > 0).sort("total", "epoch", "bar").unique("session", keep="last")
    return {session: Pace(*pace) for session, *pace in last.select("session", "total", "epoch", "bar").iter_rows()}


def longest(earlier: Mapping[int, Pace], later: Mapping[int, Pace]) -> dict[int, Pace]:
    """For each session the last pace of its longest bar."""
    return {**earlier, **{session: max(pace, earlier.get(session, pace)) for session, pace in later.items()}}
