"""Job logs: SLURM output, stdout and stderr. Metrics, the lines a pattern knows, sessions, printed arguments."""

import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import astuple
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import SCHEMAS, Tables, Time, table
from loganalyst.sources.log import args, blocks, ending, owners, patterns, sniffing, stamps, tracelines
from loganalyst.sources.log import lines as textlines
from loganalyst.sources.log import metrics as logmetrics
from loganalyst.sources.log.folding import Blocks
from loganalyst.sources.log.kinds import Kinds, Look
from loganalyst.sources.log.sessions import Sessions
from loganalyst.sources.log.steps import Steps, schema_of
from loganalyst.sources.mark import Mark, StartAgainError

NAME = "text"
CUT = 2000  # characters of a line that are kept
HELD = 1 << 20  # bytes of an unfinished block that wait for the next batch
KEPT = 100  # matches of one pattern kept at either end of a session in a batch; how many are left out is reported

_EXAMPLE = ">>>"
_WORDS = (*blocks.WORDS, _EXAMPLE, args.CALL, args.ENVIRONMENT)  # looked for beside the patterns' literals
_MARKS = schema_of(
    line=pl.Int64, offset=pl.Int64, time=Time, rank=pl.Int64, node=pl.String, pattern=pl.String,
    label=pl.String, part=pl.String, generic=pl.Boolean, captures=pl.String, text=pl.String,
    block=pl.Int64,
)  # fmt: skip
_HITS = schema_of(
    row=pl.Int64, line=pl.Int64, pattern=pl.String, label=pl.String, part=pl.String, generic=pl.Boolean,
    captures=pl.String, chain=pl.Int64,
)  # fmt: skip
_JOB_IN_NAME = re.compile(r"slurm-(\d+(?:_\d+)?)\.|[-_.](\d{3,}(?:_\d+)?)\.(?:out|err|log)$|\.[oe](\d{3,})$")


def sniff(path: Path, head: bytes) -> float:
    """How surely (0..1) a file whose first bytes are `head` is a job log."""
    return sniffing.likeness(path, head)


def read(path: Path) -> Iterator[Tables]:
    """The tables of one log: lines, config and gaps batch by batch, at the end its points and sessions.

    `lines` holds the lines that a pattern of `rules/text` claims and the last lines of tracebacks (`block`: number of
    their chain). Raises OSError; no content raises.
    """
    yield from resume(path, None)


def resume(path: Path, mark: Mark | None) -> Generator[Tables, None, Mark | None]:
    """As `read`, behind `mark`; gives the mark for the next time (None in UTF-16 and in logs below CHUNK).

    Raises StartAgainError where the file is shorter than it was, or what was appended changes how the log counts.
    """
    reading = _Reading(path) if mark is None else _Reading.from_mark(path, mark)
    rest: textlines.Chunk | None = None
    size = path.stat().st_size
    for chunk, place in textlines.batches(path, reading.place):
        rows = chunk.after(rest)
        cut = len(rows) if place is None and rows.reaches(size) else blocks.unfinished(rows)
        rows, rest = rows.cut(cut if len(rows.data) - rows.starts[min(cut, len(rows))] < HELD else len(rows))
        if len(rows):
            yield reading.batch(rows)
        if rest is None:
            reading.settle(place)
    if rest is not None:
        yield reading.batch(rest)
    yield from reading.closing(path)
    return reading.mark()


class _Reading:
    """What passes from batch to batch: sessions, the number of traceback chains, the metrics."""

    def __init__(self, path: Path) -> None:
        self.name = name = path.name
        self.rank, self.node = owners.of_file(path)
        self.known = patterns.catalogue()
        hit = _JOB_IN_NAME.search(name)
        self.sessions = Sessions(name, next(filter(None, hit.groups()), None) if hit else None)
        self.kinds = Kinds()
        self.steps = Steps()
        self.metrics = logmetrics.Reader(self.kinds, self.steps.code)
        self.place = textlines.Place()
        self.clock = stamps.Clock()
        self.blocks = Blocks()
        self.chains = self.last_line = self.rows = 0
        self.kept = Counter[str]()
        self.settled: Mapping[str, Any] | None = None

    @classmethod
    def from_mark(cls, path: Path, mark: Mark) -> "_Reading":
        """One that goes on behind `mark`."""
        state = mark.state
        reading = cls(path)
        reading.place = textlines.Place(mark.offset, state["line"], state["read"])
        if path.stat().st_size < reading.place.read:
            raise StartAgainError(f"{path}: shorter than it was")
        reading.sessions = Sessions.from_state(state["sessions"])
        reading.steps = Steps.from_state(state["steps"], mark.kept["points"])
        often = set(state["often"])
        reading.metrics = logmetrics.Reader(reading.kinds, reading.steps.code, often, state["rank"])
        reading.chains, reading.last_line, reading.rows = state["chains"], state["last_line"], state["rows"]
        reading.clock = stamps.Clock(*state["clock"])
        reading.blocks = Blocks(*state["blocks"])
        reading.kept = Counter(mark.kept)
        reading.settled = state
        return reading

    def batch(self, chunk: textlines.Chunk) -> Tables:
        self.last_line = int(chunk.line[-1])
        look = self.kinds.look(chunk)
        rows, literals = patterns.candidates(chunk.data, chunk.starts[1:] - 1, self.known, _WORDS)
        own = literals >= 0
        said = {word: np.unique(rows[literals == -1 - k]) for k, word in enumerate(_WORDS)}
        found = blocks.find(chunk, said)
        hits, placed = self._hits(chunk, rows[own], literals[own], found)
        session = self.sessions.number(chunk, look, hits)
        hits, left_out = self._thinned(hits, session, chunk)
        marks = self._described(hits, placed, look)
        self.blocks.add(self._placed(found.blocks, chunk, look, session))
        quotes = len(said[tracelines.HEADER]) + len(said[_EXAMPLE]) > 0
        numbers = self.metrics.read(chunk, look, session, quotes=quotes)
        self.steps.add(*numbers.placed(self.rows, session, chunk.line, look.time))
        self.clock.go_on(look.time, self.rows)
        self.rows += len(chunk)
        self.sessions.add(marks, numbers.rows(), chunk, look)
        printed = chunk.some(np.union1d(said[args.CALL], said[args.ENVIRONMENT]))
        tables = Tables(lines=self._lines(marks), config=args.arguments(printed, self.name), gaps=left_out)
        self.kept.update({name: getattr(tables, name).height for name in ("lines", "config", "gaps")})
        return tables

    def settle(self, place: textlines.Place | None) -> None:
        """What was read is read for good; a next reading may begin at `place`."""
        if place is None:
            return
        self.steps.settle()
        self.place = place
        self.settled = {
            "line": place.line, "read": place.read, "sessions": self.sessions.state(), "chains": self.chains,
            "last_line": self.last_line, "rows": self.rows, "rank": self.metrics.rank,
            "often": sorted(self.metrics.often), "kept": dict(self.kept),
            "clock": astuple(self.clock), "blocks": self.blocks.state(),
        }  # fmt: skip

    def closing(self, path: Path) -> Iterator[Tables]:
        for points in self.steps.points():
            yield Tables(points=points)
        found, left_out = self.blocks.summary(self.name)
        sessions = self.sessions.summary(self.last_line)
        yield Tables(
            sessions=sessions, blocks=found, gaps=left_out, lines=ending.cut(path, self.last_line, sessions.height - 1)
        )

    def mark(self) -> Mark | None:
        """Where the next reading begins."""
        if self.settled is None:
            return None
        state = {**self.settled, "steps": self.steps.state}
        kept = {**self.settled["kept"], "points": self.steps.kept}
        return Mark(self.place.offset, kept, state)

    def _hits(
        self, chunk: textlines.Chunk, rows: patterns.Rows, literals: patterns.Rows, found: blocks.Found
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The matched rows with what their patterns say of them, and the same rows as text; `literals` were found in
        `rows`; tracebacks are among what was `found`.
        """
        ends = self._numbered(found)
        hit = np.union1d(rows, ends["row"].to_numpy())
        if not len(hit):
            return pl.DataFrame(schema=_HITS), pl.DataFrame()
        placed = chunk.rows(hit)
        hits = patterns.claims(placed["body"], np.searchsorted(hit, rows), literals, self.known)
        hits = hits.with_columns(row=placed["row"].gather(hits["row"]))
        part, chain = pl.col("part"), pl.lit(None, pl.Int64).alias("chain")
        if ends.height:
            hits = hits.join(ends, on="row", how="full", coalesce=True).sort("row")
            hits = hits.with_columns(pl.col("pattern").fill_null("python-exception"), captures=_captures())
            harmless = pl.col("harmless") & (pl.col("generic") | part.is_in(["peer", "cascade"]))
            part, chain = pl.when(harmless).then(pl.lit("advice")).otherwise(part), pl.col("chain")
        hits = hits.join(self._parts, on="pattern", how="left", maintain_order="left").with_columns(part, chain)
        hits = hits.join(placed.select("row", "line"), on="row", how="left", maintain_order="left")
        return hits.select(pl.col(name).cast(dtype) for name, dtype in _HITS.items()), placed

    def _described(self, hits: pl.DataFrame, placed: pl.DataFrame, look: Look) -> pl.DataFrame:
        """Matched rows with the columns of `_MARKS`; `placed` are the rows as text."""
        if not hits.height:
            return pl.DataFrame(schema=_MARKS)
        time = self.clock.at(look.time, hits["row"].to_numpy(), self.rows)
        said = placed.drop("line").rename({"node": "prefix_node", "rank": "prefix_rank"})
        marks = hits.join(said, on="row", how="left", maintain_order="left")
        rank, node = owners.said(pl.col("body"))
        return marks.select(
            "line", "offset", "pattern", "label", "part", "generic", "captures",
            time=pl.Series("time", time).dt.replace_time_zone("UTC"),
            rank=pl.coalesce(_captured("rank").cast(pl.Int64, strict=False), "prefix_rank", rank, pl.lit(self.rank)),
            node=pl.coalesce(_captured("node"), "prefix_node", node, pl.lit(self.node)),
            text=_shown(pl.col("text")),
            block=pl.col("chain"),
        ).select(_MARKS.names())  # fmt: skip

    @cached_property
    def _parts(self) -> pl.DataFrame:
        """What the patterns say of the lines they claim."""
        known = [{"pattern": p.id, "label": p.label, "part": p.part, "generic": p.generic} for p in self.known]
        return pl.DataFrame(known)

    def _numbered(self, found: blocks.Found) -> pl.DataFrame:
        """The tracebacks by row of their exception; chains numbered over the file."""
        ends = found.ends.with_columns(found.ends["chain"] + self.chains)
        self.chains += found.chains
        return ends

    def _placed(self, found: pl.DataFrame, chunk: textlines.Chunk, look: Look, session: patterns.Rows) -> pl.DataFrame:
        """Blocks of a batch with session, lines, offset and time; rank and node of the log, if they tell none."""
        first, last = found["first"].to_numpy(), found["last"].to_numpy()
        time = pl.Series(self.clock.at(look.time, first, self.rows)).cast(pl.Int64)
        return found.with_columns(
            session=pl.Series(session[first], dtype=pl.Int64),
            first_line=pl.Series(chunk.line[first]),
            last_line=pl.Series(chunk.line[last]),
            offset=pl.lit(None, pl.Int64) if chunk.offset is None else pl.Series(chunk.offset[first]),
            time=pl.coalesce("time", time),
            rank=pl.coalesce("rank", pl.lit(self.rank, pl.Int64)),
            node=pl.coalesce("node", pl.lit(self.node, pl.String)),
        )

    def _lines(self, marks: pl.DataFrame) -> pl.DataFrame:
        """The `lines` table."""
        if not marks.height:
            return table("lines")
        lines = marks.filter(pl.col("part") != "start")
        session = pl.Series("session", self.sessions.at(lines["line"].to_numpy()), pl.Int32)
        lines = lines.with_columns(session, file=pl.lit(self.name))
        return lines.select(table("lines").columns).cast(SCHEMAS["lines"])

    def _thinned(
        self, hits: pl.DataFrame, session: patterns.Rows, chunk: textlines.Chunk
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """At most KEPT matches of a pattern from either end of a session, and the gaps that say so."""
        if hits.height <= 2 * KEPT:
            return hits, table("gaps")
        hits = hits.with_columns(session=session[hits["row"].to_numpy()])
        place = pl.int_range(pl.len()).over("session", "pattern")
        kept = hits.select((place < KEPT) | (place >= pl.len().over("session", "pattern") - KEPT)).to_series()
        lost = hits.filter(~kept).group_by("pattern", maintain_order=True).agg(pl.len(), pl.col("row").first())
        why = [f"{n} more lines like {pattern!r} not listed" for pattern, n, _ in lost.iter_rows()]
        offset = None if chunk.offset is None else chunk.offset[lost["row"].to_numpy()]
        return hits.filter(kept), table("gaps", {"file": self.name, "offset": offset, "why": why})


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
