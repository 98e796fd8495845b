"""What the offline records of trackers have in common: points, settings, printed text, and one session."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from loganalyst.model import Tables, table
from loganalyst.model.tabletext import printable
from loganalyst.opening import temporary
from loganalyst.sources.config.secrets import masked
from loganalyst.sources.files.embeddedtext import printed
from loganalyst.sources.files.flatten import Leaf, config_table, number
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.timestamps import from_seconds
from loganalyst.sources.tables.jsonvalues import number_in
from loganalyst.sources.tables.pointrows import as_points

BATCH_ROWS = 1 << 16
SYSTEM = "system/"  # before the names of measurements of the machine
_SCHEMA = {"metric": pl.String, "step": pl.Float64, "epoch": pl.Float64, "s": pl.Float64, "value": pl.Float64}


class Events(msgspec.Struct):
    """Events of one run as they are read. `path` names the file, and `lost` counts records that are no JSON objects."""

    path: Path
    rows: list[tuple[str, float | None, float | None, float | None, float]] = msgspec.field(default_factory=list)
    settings: dict[str, Leaf] = msgspec.field(default_factory=dict)
    output: list[str] = msgspec.field(default_factory=list)
    status: str = "unknown"
    started: float | None = None
    ended: float | None = None
    lost: int = 0

    def point(self, metric: str, value: Any, step: Any, seconds: Any, epoch: Any = None) -> None:
        """Add a value. Steps, epochs and times may be NULL; what is no number is lost."""
        found = number_in(value) if isinstance(value, str | int | float) else None
        if found is None:
            self.lost += 1
        else:
            self.rows.append((printable(metric), _number(step), _number(epoch), _number(seconds), found))

    def full(self) -> bool:
        """Whether it is time to yield the points."""
        return len(self.rows) >= BATCH_ROWS

    def points(self) -> Tables:
        """The points since the last call."""
        frame = pl.DataFrame(self.rows, schema=_SCHEMA, orient="row")
        self.rows = []
        whole = frame.with_columns(
            pl.col("step").round().cast(pl.Int64, strict=False),
            from_seconds(frame["s"].fill_null(0)).alias("time"),
        )
        return Tables(points=as_points(whole, self.path.name))

    def ending(self, session: bool = True) -> Iterator[Tables]:
        """The last points, settings, the session, what the program printed, and the gap for what was lost."""
        yield self.points()
        yield Tables(config=masked(config_table(self.settings.items(), self.path.name)))
        if session:
            times = {key: from_seconds([seconds or 0.0]) for key, seconds in self._times()}
            facts = {"session": [0], "source": self.path.name, "status": self.status}
            yield Tables(sessions=table("sessions", {**facts, **times}))
        if self.output:
            with temporary() as folder:
                log = folder / self.path.name
                log.write_text("".join(map(printable, self.output)), encoding="utf-8")
                yield from printed(log)
        if self.lost:
            yield Tables(gaps=gap(self.path, f"{self.lost:,} records hold no number, or are not JSON"))

    def _times(self) -> tuple[tuple[str, float | None], ...]:
        return ("started", self.started), ("ended", self.ended)


def _number(value: Any) -> float | None:
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def milliseconds(value: Any) -> float | None:
    """A time in ms as one in s; None where it is no number."""
    found = _number(value)
    return None if found is None else found / 1000
