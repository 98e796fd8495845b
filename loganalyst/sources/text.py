"""Job logs: SLURM output, stdout and stderr. Metrics, the lines a pattern knows, sessions, printed arguments."""

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.sources import logmetrics, patterns, textargs, textlines, textsniff, tracebacks
from loganalyst.sources.textsessions import Sessions

NAME = "text"
CUT = 2000  # characters of a line that are kept
HELD = 1 << 20  # bytes of an unfinished traceback that wait for the next batch
KEPT = 100  # matches of one pattern kept at either end of a batch; how many are left out is reported

_JOB_IN_NAME = re.compile(r"slurm-(\d+(?:_\d+)?)\.|[-_.](\d{3,}(?:_\d+)?)\.(?:out|err|log)$|\.[oe](\d{3,})$")


def sniff(path: Path, head: bytes) -> float:
    """How surely (0..1) a file whose first bytes are `head` is a job log."""
    return textsniff.likeness(path, head)


def read(path: Path) -> Iterator[Tables]:
    """The tables of one log: lines, config and gaps in batches of about 1 MiB, at the end its points and sessions.

    `lines` holds the lines that a pattern of `rules/text` claims and the last lines of tracebacks (`block`: number of
    their chain). Raises OSError; no content raises.
    """
    reading = _Reading(path.name)
    rest: list[pl.DataFrame] = []
    for batch in textlines.batches(path):
        rows = pl.concat([*rest, textlines.described(batch)])
        cut = tracebacks.unfinished(rows)
        cut = cut if rows[cut:].estimated_size() < HELD else rows.height
        rest = [rows[cut:]]
        yield reading.batch(rows[:cut])
    yield from map(reading.batch, rest)
    yield from reading.closing()


class _Reading:
    """What passes from batch to batch: sessions, the number of traceback chains, the rank whose metrics are taken."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.known = patterns.catalogue()
        hit = _JOB_IN_NAME.search(name)
        self.sessions = Sessions(name, next(filter(None, hit.groups()), None) if hit else None)
        self.printed = logmetrics.Printed()
        self.chains = 0
        self.rank: int | None = None
        self.last_line = 0

    def batch(self, rows: pl.DataFrame) -> Tables:
        if not rows.height:
            return Tables()
        self.last_line = int(rows["line"][-1])
        marks, left_out = self._thinned(self._marks(rows))
        rows = rows.with_columns(session=self.sessions.number(rows, marks))
        marks = marks.with_columns(session=self.sessions.at(marks["line"]))
        numbers = self.printed.add(self._speaking(rows).select("line", "text", "session", "time"))
        self.sessions.add(marks, numbers, rows.select("session", "line", "time"))
        lines = marks.filter(pl.col("part") != "start").with_columns(file=pl.lit(self.name))
        return Tables(
            lines=lines.select(table("lines").columns).cast(table("lines").schema),
            config=textargs.arguments(rows["body"], self.name),
            gaps=left_out,
        )

    def closing(self) -> Iterator[Tables]:
        for points in self.printed.points().iter_slices(1_000_000):
            yield Tables(points=points)
        yield Tables(sessions=self.sessions.summary(self.last_line))

    def _marks(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The matched rows with the columns of `lines`, and generic (Boolean)."""
        hits = patterns.match(rows["body"], self.known)
        found = tracebacks.find(rows).with_columns(chain=pl.col("chain") + self.chains)
        self.chains += found["chain"].n_unique()
        ends = found.drop_nulls("row").with_columns(pl.col("row").cast(pl.UInt32)).unique("row", keep="first")
        known = pl.DataFrame(
            [{"pattern": p.id, "label": p.label, "part": p.part, "generic": p.generic} for p in self.known]
        )
        marks = hits.join(ends, on="row", how="full", coalesce=True).with_columns(
            pl.col("pattern").fill_null("python-exception"), captures=_captures()
        )
        marks = marks.join(known, on="pattern", how="left").sort("row")
        marks = marks.with_columns(
            part=pl.when(pl.col("harmless") & pl.col("generic")).then(pl.lit("advice")).otherwise("part")
        )
        placed = rows.with_row_index("row").rename({"node": "said_node", "rank": "said_rank"})
        return marks.join(placed, on="row", how="left", maintain_order="left").with_columns(
            rank=pl.coalesce(_captured("rank").cast(pl.Int64, strict=False), "said_rank"),
            node=pl.coalesce(_captured("node"), "said_node"),
            text=_shown(pl.col("text")),
            block=pl.col("chain"),
        )

    def _thinned(self, marks: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """At most KEPT matches of a pattern from either end, and the gaps that says so."""
        place = pl.int_range(pl.len()).over("pattern")
        kept = (place < KEPT) | (place >= pl.len().over("pattern") - KEPT)
        lost = marks.filter(~kept).group_by("pattern", maintain_order=True).agg(pl.len(), pl.col("offset").first())
        why = [f"{n} more lines like {pattern!r} not listed" for pattern, n, _ in lost.iter_rows()]
        return marks.filter(kept), table("gaps", {"file": self.name, "offset": lost["offset"], "why": why})

    def _speaking(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows metrics are taken from: one rank of several, without its prefix."""
        if self.rank is None and rows["rank"].is_not_null().any():
            speaking = rows.filter(pl.col("rank").is_not_null() & pl.col("body").str.contains(r"\d\.\d"))
            self.rank = int(speaking["rank"][0]) if speaking.height else None
        mine = pl.col("rank").is_null() | (pl.col("rank") == self.rank) if self.rank is not None else pl.lit(value=True)
        return rows.filter(mine).with_columns(text="body")


def _captures() -> pl.Expr:
    """The pattern's captures with the traceback's, as one JSON object."""
    own = pl.col("captures").fill_null("{}")
    block = pl.struct("exception", "message", "frame").struct.json_encode()
    both = pl.when(own == "{}").then(block).otherwise(own.str.head(-1) + pl.lit(",") + block.str.tail(-1))
    plain = pl.col("pattern") == "python-exception"
    return pl.when(pl.col("head").is_null()).then(own).when(plain).then(block).otherwise(both)


def _captured(name: str) -> pl.Expr:
    return pl.col("captures").str.json_path_match(f"$.{name}")


def _shown(text: pl.Expr) -> pl.Expr:
    """The line cut to CUT characters; of a longer one its end, where what was glued to it stands."""
    return pl.when(text.str.len_chars() <= CUT).then(text).otherwise(text.str.head(CUT))
