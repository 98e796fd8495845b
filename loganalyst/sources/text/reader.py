"""Job logs: SLURM output, stdout and stderr. Metrics, the lines a pattern knows, sessions, printed arguments."""

import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import astuple, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import Tables, table
from loganalyst.opening import opened
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.formats import HEAD, formats
from loganalyst.sources.text import batches, sniffing
from loganalyst.sources.text.batches import Log, Scanned
from loganalyst.sources.text.lines import loglines as textlines
from loganalyst.sources.text.lines import owners, printedarguments, stamps, wrapped
from loganalyst.sources.text.lines.linekinds import Kinds, Look
from loganalyst.sources.text.lines.numberrecords import Integers
from loganalyst.sources.text.metrics import barsteps, lastprogress
from loganalyst.sources.text.metrics import printedmetrics as logmetrics
from loganalyst.sources.text.metrics.printedsteps import Steps
from loganalyst.sources.text.patterns import ending
from loganalyst.sources.text.patterns import userpatterns as own
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits, Lines
from loganalyst.sources.text.programstarts import Sessions
from loganalyst.sources.text.tracebacks import textblocks, tracelines
from loganalyst.sources.text.tracebacks.folding import Blocks

NAME = "text"
WRAPPED, LOGGED = 0.7, 0.97  # surer than the reader of JSON is of a log without metrics, and of one with them

_EXAMPLE = ">>>"
_WORDS = (
    *textblocks.WORDS,
    _EXAMPLE,
    printedarguments.CALL,
    printedarguments.ENVIRONMENT,
)  # looked for beside the patterns' literals
_JOB_IN_NAME = re.compile(r"slurm-(\d+(?:_\d+)?)\.|[-_.](\d{3,}(?:_\d+)?)\.(?:out|err|log)$|\.[oe](\d{3,})$")


def sniff(path: Path, head: bytes) -> float:
    """How surely (0..1) a file whose first bytes are `head` is a job log."""
    if of := wrapped.keys(head):
        return WRAPPED if sniffing.speaks(wrapped.plain(head, of)) else 0.0
    if wrapped.keys(head, metrics=True):
        return LOGGED
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
    with opened(path) as log:
        head = log.read(HEAD)
    said, logged = wrapped.keys(head), wrapped.keys(head, metrics=True)
    if of := said or logged:
        yield from _numbers(path) if logged else ()
        with wrapped.unwrapped(path, of) as inside:
            for tables in map(inside.placed, _resume(inside.file, None)):
                yield replace(tables, points=Tables().points) if logged else tables
        return None
    return (yield from _resume(path, mark))


def _numbers(path: Path) -> Iterator[Tables]:
    """What a program's logger holds under keys beside what it says."""
    rows: Iterator[Tables] = next(module for module in formats() if module.NAME == "json").read(path)
    return rows


def _resume(path: Path, mark: Mark | None) -> Generator[Tables, None, Mark | None]:
    reading = _Reading(path) if mark is None else _Reading.from_mark(path, mark)
    log = Log(path, path.stat().st_size, reading.place, reading.catalogue.known, _WORDS)
    for batch, place in batches.scanned(log):
        yield reading.batch(batch)
        reading.settle(place)
    yield from reading.closing(path)
    return reading.mark()


@cache
def _catalogue(beside: own.Own) -> Catalogue:
    return Catalogue(own.known(beside))


class _Reading:
    """What passes from batch to batch: sessions, the number of traceback chains, the metrics."""

    def __init__(self, path: Path) -> None:
        self.name = name = path.name
        self.rank, self.node = owners.of_file(path)
        task = owners.of_task(path)
        self.rank = task if self.rank is None else self.rank
        self.catalogue = _catalogue(own.here())
        self.lines = Lines(name, self.rank, self.node, self.catalogue)
        hit = _JOB_IN_NAME.search(name)
        job = next(filter(None, hit.groups()), None) if hit else None
        self.sessions = Sessions(name, job.partition("_")[0] if job and task else job)
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

    def batch(self, scanned: Scanned) -> Tables:
        chunk, hashes, rows, literals = scanned
        self.last_line = int(chunk.line[-1])
        look = self.kinds.look(chunk, hashes)
        own = literals >= 0
        also, there = rows[~own], literals[~own]
        said = {word: np.unique(also[there == -1 - k]) if len(also) else also for k, word in enumerate(_WORDS)}
        found = textblocks.find(chunk, said)
        hits, text = self.catalogue.claimed(chunk, rows[own], literals[own], self._numbered(found))
        session = self.sessions.number(chunk, look, hits, self.catalogue)
        hits, lost = hits.thinned(session[hits.row])
        if found.blocks.height:
            self.blocks.add(self._placed(found.blocks, chunk, look, session))
        quotes = np.concatenate([said[tracelines.HEADER], said[_EXAMPLE]])
        numbers = self.metrics.read(chunk, look, session, quotes)
        records, points = numbers.placed(self.rows, session, chunk.line, look.time)
        self.steps.add(records, points)
        self.steps.groups.draw(barsteps.beside(chunk, records, self.rows))
        time = self.clock.at(look.time, hits.row, self.rows)
        self.clock.go_on(look.time, self.rows)
        self.rows += len(chunk)
        self.sessions.add(hits, self.catalogue, numbers.rows(), chunk, look)
        printed = chunk.some(np.union1d(said[printedarguments.CALL], said[printedarguments.ENVIRONMENT]))
        new = self.lines.add(hits, text, self.sessions.at(hits.line), time)
        config = printedarguments.arguments(printed, self.name)
        left_out = pl.concat([self._left_out(lost, chunk), self._shortened(chunk)])
        self.kept.update(lines=new, config=config.height, gaps=left_out.height)
        return Tables(lines=self.lines.table(), config=config, gaps=left_out)

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
        yield Tables(lines=self.lines.table(last=True))
        for points in self.steps.points():
            yield Tables(points=points)
        found, left_out = self.blocks.summary(self.name)
        sessions = self.sessions.summary(self.last_line)
        number = sessions.height - 1
        came = lastprogress.last(path, number, sessions["first_line"][-1], self.last_line)
        ends = [ending.cut(path, self.last_line, number), came]
        if not self.sessions.all[-1].ended_well:
            ends.append(ending.words(path, self.last_line, number, self.catalogue.known, _WORDS))
        left_out = pl.concat([left_out, self.sessions.left_out()])
        yield Tables(sessions=sessions, blocks=found, gaps=left_out, lines=pl.concat(ends))

    def mark(self) -> Mark | None:
        """Where the next reading begins."""
        if self.settled is None:
            return None
        state = {**self.settled, "steps": self.steps.state}
        kept = {**self.settled["kept"], "points": self.steps.kept}
        return Mark(self.place.offset, kept, state)

    def _numbered(self, found: textblocks.Found) -> pl.DataFrame:
        """The tracebacks by row of their exception; chains numbered over the file."""
        ends = found.ends.with_columns(found.ends["chain"] + self.chains)
        self.chains += found.chains
        return ends

    def _placed(self, found: pl.DataFrame, chunk: textlines.Chunk, look: Look, session: Integers) -> pl.DataFrame:
        """Blocks of a batch with session, lines, offset and time; rank and node of the log, if they tell none."""
        first, last = found["first"].to_numpy(), found["last"].to_numpy()
        time = pl.Series(self.clock.at(look.time, first, self.rows)).cast(pl.Int64)
        return found.with_columns_seq(
            session=pl.Series(session[first], dtype=pl.Int64),
            first_line=pl.Series(chunk.line[first]),
            last_line=pl.Series(chunk.line[last]),
            offset=pl.lit(None, pl.Int64) if chunk.offset is None else pl.Series(chunk.offset[first]),
            time=pl.coalesce("time", time),
            rank=pl.coalesce("rank", pl.lit(self.rank, pl.Int64)),
            node=pl.coalesce("node", pl.lit(self.node, pl.String)),
        )

    def _shortened(self, chunk: textlines.Chunk) -> pl.DataFrame:
        """The gap that says which lines are not read to their end."""
        rows = chunk.shortened()
        if not len(rows):
            return table("gaps")
        lines = np.unique(chunk.line[rows])
        more = f" and {len(lines) - 1} more lines" if len(lines) > 1 else ""
        why = f"the middle of line {lines[0]}{more}: of a line above {textlines.LONGEST:,} bytes both ends are read"
        offset = None if chunk.offset is None else [chunk.offset[rows[0]]]
        return table("gaps", {"file": self.name, "offset": offset, "why": [why]})

    def _left_out(self, lost: Hits, chunk: textlines.Chunk) -> pl.DataFrame:
        """The gaps that say how many matches of a pattern are not listed."""
        if not len(lost):
            return table("gaps")
        pattern, first, count = np.unique(lost.pattern, return_index=True, return_counts=True)
        order = np.argsort(first)
        told = zip(pattern[order].tolist(), count[order].tolist(), strict=True)
        why = [f"{n} more lines like {self.catalogue.ids[place]!r} not listed" for place, n in told]
        offset = None if chunk.offset is None else chunk.offset[lost.row[first[order]]]
        return table("gaps", {"file": self.name, "offset": offset, "why": why})
