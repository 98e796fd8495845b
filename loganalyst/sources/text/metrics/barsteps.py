"""Steps of lines that tell but a part of an epoch: from the progress bar that they were printed over.

The Trainer of transformers prints `{'loss': 2.1, 'epoch': 0.08}` over the bar `| 10/375 [` of the whole training.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from loganalyst.sources.text.lines.loglines import Chunk
from loganalyst.sources.text.lines.numberrecords import Records

BAR = r"\|\s*([0-9]{1,12})/([0-9]{1,12}) \["
NEAR = 3  # rows back on the same line: the bar, and the blanks that hid it
SAME = 0.05  # of the pace, by which it may be off: a bar is drawn a little late, an epoch rounded
MOST = 100  # numbers of epochs that are tried on either side


class Pace(NamedTuple):
    """The steps of a bar in all, and those it showed (`bar`) when `epoch` was printed: of the last line printed over
    the longest bar of a session.
    """

    total: float
    epoch: float
    bar: float

    def steps(self) -> float:
        """Steps an epoch: a whole number that makes the total a whole number of epochs, if one is near."""
        pace = self.bar / self.epoch
        epochs = round(self.total / pace)
        off = min(int(SAME * epochs) + 1, MOST)
        whole = [self.total / n for n in range(max(epochs - off, 1), epochs + off + 1) if self.total % n == 0]
        near = min(whole, key=lambda steps: abs(steps - pace), default=pace)
        return near if abs(near - pace) <= SAME * pace else pace


def beside(chunk: Chunk, records: Records, first: int) -> dict[int, Pace]:
    """The pace of each session of a batch whose first row has the number `first`; of those that tell it."""
    alone = np.isnan(records.step) & np.isnan(records.batch) & (records.epoch > 0) & ~records.held_out & ~records.header
    rows = records.row[alone] - first
    bar = pl.DataFrame({"at": np.arange(0), "bar": np.empty(0), "total": np.empty(0)})
    for back in range(1, NEAR + 1):
        at = np.flatnonzero(chunk.line[np.maximum(rows - back, 0)] == chunk.line[rows])
        at = np.setdiff1d(at[rows[at] >= back], bar["at"].to_numpy())
        if len(at):
            text = chunk.some(rows[at] - back)
            numbers = (text.str.extract(BAR, k).cast(pl.Float64).alias(name) for k, name in ((1, "bar"), (2, "total")))
            bar = pl.concat([bar, pl.DataFrame([pl.Series("at", at), *numbers]).drop_nulls()])
    at = bar["at"].to_numpy()
    told = bar.with_columns(
        pl.Series("session", records.session[alone][at]), pl.Series("epoch", records.epoch[alone][at])
    )
    last = told.filter(pl.col("bar") > 0).sort("total", "epoch", "bar").unique("session", keep="last")
    return {session: Pace(*pace) for session, *pace in last.select("session", "total", "epoch", "bar").iter_rows()}


def longest(one: Mapping[int, Pace], two: Mapping[int, Pace]) -> dict[int, Pace]:
    """Of each session the pace told last of its longest bar."""
    return {**one, **{session: max(pace, one.get(session, pace)) for session, pace in two.items()}}
