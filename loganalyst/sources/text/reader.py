"""Job logs (SLURM output, stdout and stderr): metrics, lines that a pattern knows, sessions, printed arguments."""

import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import Tables, table
from loganalyst.opening import opened
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.formats import HEAD, formats
from loganalyst.sources.text import batches, sessionrecords, sniffing
from loganalyst.sources.text.batches import Log, Scanned
from loganalyst.sources.text.lines import loglines as textlines
from loganalyst.sources.text.lines import owners, powershell, printedarguments, stamps, wrapped
from loganalyst.sources.text.lines.chunks import MAX_ROW_BYTES, Chunk
from loganalyst.sources.text.lines.linekinds import Kinds, Look
from loganalyst.sources.text.lines.numberrecords import Integers
from loganalyst.sources.text.metrics import barsteps, lastprogress, printedhistories, unreadrows
from loganalyst.sources.text.metrics import printedmetrics as logmetrics
from loganalyst.sources.text.metrics.printedsteps import Steps
from loganalyst.sources.text.patterns import closing, ending, goingon, userpatterns
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits, Lines
from loganalyst.sources.text.patterns.trainersseen import TrainersSeen
from loganalyst.sources.text.programstarts import Sessions
from loganalyst.sources.text.sessionends import Session
from loganalyst.sources.text.sizes import SIZES, Sizes
from loganalyst.sources.text.starts import Starts
from loganalyst.sources.text.tracebacks import headers, textblocks
from loganalyst.sources.text.tracebacks.folding import Blocks

NAME = "text"
# Surer than the reader of JSON: of a log without metrics, and of one with them
SURE_OF_WRAPPED, SURE_OF_LOGGED = 0.7, 0.97

_EXAMPLE = ">>>"
# searched for with the patterns' literals
_EXTRA_WORDS = (
    *textblocks.WORDS,
    _EXAMPLE,
    printedarguments.CALL,
    printedarguments.DOTS,
    printedarguments.ENVIRONMENT,
    *printedarguments.LOADED,
)
_MAX_SHOWN = 60  # characters of a line that a gap shows
# `slurm-4711_3.out`, `train-4711.log`, `train.o4711`
_JOB_IN_NAME = re.compile(r"slurm-(\d+(?:_\d+)?)\.|[-_.](\d{3,}(?:_\d+)?)\.(?:out|err|log)$|\.[oe](\d{3,})$")


def sniff(path: Path, head: bytes) -> float:
    """How surely (0..1) a file whose first bytes are `head` is a job log."""
    if keys := wrapped.keys(head):
        return SURE_OF_WRAPPED if sniffing.is_training(wrapped.plain(head, keys)) else 0.0
    if wrapped.keys(head, metrics=True):
        return SURE_OF_LOGGED
    return sniffing.likeness(path, head)


def read(path: Path, sizes: Sizes = SIZES) -> Iterator[Tables]:
    """The tables of one log: lines, config and gaps batch by batch, points and sessions at the end.

    `lines` holds the lines that a pattern of `rules/text` claims and the last lines of tracebacks (`block`: number of
    their chain). Raises OSError; no content raises.
    """
    yield from resume(path, None, sizes)


def resume(path: Path, mark: Mark | None, sizes: Sizes = SIZES) -> Generator[Tables, None, Mark | None]:
    """As `read`, from `mark` on; returns the mark for the next time (None for UTF-16 and for logs of one batch).

    Raises StartAgainError where the file is shorter than it was, or where new lines change how the log counts.
    """
    with opened(path) as log:
        head = log.read(HEAD)
    if wrapped.keys(head, metrics=True):
        yield from _with_numbers(path)
        return None
    if keys := wrapped.keys(head):
        with wrapped.unwrapped(path, wrapped.Unwrapping(keys)) as inside:
            yield from map(inside.placed, _resume(inside.file, None, sizes))
        return None
    if powershell.is_redirected(head):
        with powershell.printed(path) as inside:
            yield from map(inside.placed, _resume(inside.file, None, sizes))
        return None
    return (yield from _resume(path, mark, sizes))


def _with_numbers(path: Path) -> Iterator[Tables]:
    """The tables of a program's logger that writes numbers under keys of its objects, beside its messages."""
    rows: Iterator[Tables] = next(module for module in formats() if module.NAME == "json").read(path)
    return rows


def _resume(path: Path, mark: Mark | None, sizes: Sizes) -> Generator[Tables, None, Mark | None]:
    """As `resume`, for a log that is not wrapped."""
    reading = _Reading(path, sizes) if mark is None else _begun(path, mark, sizes)
    log = Log(path, path.stat().st_size, reading.place, reading.catalogue.known, reading.also, sizes)
    for batch, place in batches.scanned(log):
        yield reading.batch(batch)
        reading.settle(place)
    yield from reading.closing(path)
    return reading.mark()


def _begun(path: Path, mark: Mark, sizes: Sizes) -> "_Reading":
    """A reading that goes on at `mark`. Raises StartAgainError for the state of another version."""
    try:
        return _Reading.from_mark(path, mark, sizes)
    except (KeyError, TypeError, ValueError) as error:
        raise StartAgainError(f"{path}: a state of another form ({error!r})") from error


@cache
def _catalogue(own: userpatterns.OwnPatterns) -> Catalogue:
    return Catalogue(userpatterns.known(own))


class _Reading:
    """What passes from batch to batch: sessions, the number of traceback chains, the metrics."""

    def __init__(self, path: Path, sizes: Sizes) -> None:
        self.name = name = path.name
        self.rank, self.node = owners.of_file(path)
        task = owners.of_task(path)
        self.rank = task if self.rank is None else self.rank
        self.catalogue = _catalogue(userpatterns.here())
        self.also = userpatterns.also(userpatterns.here(), _EXTRA_WORDS)
        self.lines = Lines(name, self.rank, self.node, self.catalogue)
        hit = _JOB_IN_NAME.search(name)
        job = next(filter(None, hit.groups()), None) if hit else None
        self.sessions = Sessions(Starts([Session(1, job.partition("_")[0] if job and task else job)]))
        self.kinds = Kinds()
        self.steps = Steps(sizes=sizes)
        self.metrics = logmetrics.Reader(self.kinds, self.steps.code)
        self.place = textlines.Place()
        self.clock = stamps.Clock()
        self.blocks = Blocks()
        self.chains = self.last_line = self.rows = 0
        self.kept = Counter[str]()
        self.trainers = TrainersSeen(name)
        self.settled: Mapping[str, Any] | None = None

    @classmethod
    def from_mark(cls, path: Path, mark: Mark, sizes: Sizes) -> "_Reading":
        """A reading that goes on at `mark`."""
        state = mark.state
        reading = cls(path, sizes)
        reading.place = textlines.Place(mark.offset, state["line"], state["read"])
        if path.stat().st_size < reading.place.read:
            raise StartAgainError(f"{path}: shorter than it was")
        reading.sessions = Sessions.from_state(state["sessions"])
        reading.steps = Steps.from_state(state["steps"], mark.kept["points"], sizes)
        often = set(state["often"])
        reading.metrics = logmetrics.Reader(reading.kinds, reading.steps.code, often, state["rank"])
        reading.chains, reading.last_line, reading.rows = state["chains"], state["last_line"], state["rows"]
        reading.clock = stamps.Clock(*state["clock"])
        reading.blocks = Blocks(*state["blocks"])
        reading.trainers = TrainersSeen(path.name, dict(state["trainers"]))
        reading.kept = Counter(mark.kept)
        reading.settled = state
        return reading

    def batch(self, scanned: Scanned) -> Tables:
        """The tables of one batch."""
        chunk, hashes, rows, literals = scanned
        self.last_line = int(chunk.line[-1])
        look = self.kinds.look(chunk, hashes)
        of_pattern = literals >= 0
        also, word_numbers = rows[~of_pattern], literals[~of_pattern]
        rows_with = {
            word: np.unique(also[word_numbers == -1 - k]) if len(also) else also for k, word in enumerate(_EXTRA_WORDS)
        }
        self.trainers.add(chunk, also, word_numbers + len(self.also.each), self.also.once)
        found = textblocks.find(chunk, rows_with)
        hits, text = self.catalogue.claimed(chunk, rows[of_pattern], literals[of_pattern], self._numbered(found))
        session = self.sessions.number(chunk, look, hits, self.catalogue)
        hits, lost = hits.thinned(session[hits.row])
        if found.blocks.height:
            self.blocks.add(self._placed(found.blocks, chunk, look, session))
        quotes = np.concatenate([rows_with[headers.HEADER], rows_with[_EXAMPLE]])
        numbers = self.metrics.read(chunk, look, session, quotes)
        records, points = numbers.placed(self.rows, session, chunk.line, look.time)
        self.steps.add(records, points)
        self.steps.groups.draw(barsteps.paces(chunk, records, self.rows))
        time = self.clock.at(look.time, hits.row, self.rows)
        self.clock.go_on(look.time, self.rows)
        self.rows += len(chunk)
        sessionrecords.add(self.sessions.starts, hits, self.catalogue, chunk, look, number_rows=numbers.rows())
        words = _EXTRA_WORDS[_EXTRA_WORDS.index(printedarguments.CALL) :]
        printed = chunk.some(np.unique(np.concatenate([rows_with[word] for word in words])))
        new = self.lines.add(hits, text, self.sessions.starts.at(hits.line), time)
        config = printedarguments.arguments(printed, self.name)
        left_out = pl.concat([self._unlisted_gaps(lost, chunk), self._shortened_gaps(chunk)])
        self.kept.update(lines=new, config=config.height, gaps=left_out.height)
        return Tables(lines=self.lines.table(), config=config, gaps=left_out)

    def settle(self, place: textlines.Place | None) -> None:
        """The batches so far will not be read again; the next reading may begin at `place`."""
        if place is None:
            return
        self.steps.settle()
        self.place = place
        self.settled = {
            "line": place.line, "read": place.read, "sessions": self.sessions.state(), "chains": self.chains,
            "last_line": self.last_line, "rows": self.rows, "rank": self.metrics.rank,
            "often": sorted(self.metrics.often), "kept": dict(self.kept),
            "clock": astuple(self.clock), "blocks": self.blocks.state(), "trainers": dict(self.trainers.first),
        }  # fmt: skip

    def closing(self, path: Path) -> Iterator[Tables]:
        """The tables that are known at the end of the log."""
        yield Tables(lines=self.lines.table(last=True))
        read, numbers = self.steps.kept, Counter[str]()
        for points in self.steps.points():
            read += points.height
            numbers.update(dict(points.group_by("metric").len().iter_rows()))
            yield Tables(points=points)
        found, left_out = self.blocks.summary(self.name)
        ends = [ending.cut(path, self.last_line, len(self.sessions.starts.all) - 1), *self._last_words(path)]
        sessions = sessionrecords.summary(self.name, self.sessions.starts, self.last_line)
        number, begin = sessions.height - 1, sessions["first_line"][-1]
        histories = printedhistories.found(path, number, begin, self.last_line, numbers)
        progress = lastprogress.last(path, number, begin, self.last_line)
        ends += [progress, self.trainers.table(self.sessions.starts)]
        if read + histories.height < unreadrows.MAX_POINTS:
            ends.append(unreadrows.found(path, number, begin, self.last_line))
        left_out = pl.concat([left_out, sessionrecords.left_out(self.name, self.sessions.starts)])
        yield Tables(points=histories, sessions=sessions, blocks=found, gaps=left_out, lines=pl.concat(ends))

    def _last_words(self, path: Path) -> list[pl.DataFrame]:
        """What the last lines of the log say of its end: an error, else that the job ended well."""
        session, number = self.sessions.starts.all[-1], len(self.sessions.starts.all) - 1
        if session.ended_well:
            return []
        tail = ending.last_lines(path, self.last_line)
        error = ending.words(tail, self.name, number, self.catalogue.known, self.also)
        if error.height:
            if error["captures"][0] == ending.ECHOED:
                session.add_fault("confirm", (error["line"][0], None, error["pattern"][0]), ending.ECHOED)
            return [error]
        tail = tail.filter(pl.col("line") >= session.first_line)
        found = []
        if session.may_go_on() and (more := goingon.found(tail, session, self.name, number)).height:
            session.go_on()
            found.append(more)
        if session.may_end_well():
            found.append(closing.found(tail, self.name, number))
            if (found[-1]["part"] == "end").any():
                session.add_end(found[-1]["line"][0])
        return found

    def mark(self) -> Mark | None:
        """Where the next reading begins."""
        if self.settled is None:
            return None
        state = {**self.settled, "steps": self.steps.state}
        kept = {**self.settled["kept"], "points": self.steps.kept}
        return Mark(self.place.offset, kept, state)

    def _numbered(self, found: textblocks.Found) -> pl.DataFrame:
        """The tracebacks by row of their exception; chains are numbered over the file."""
        ends = found.ends.with_columns(found.ends["chain"] + self.chains)
        self.chains += found.chains
        return ends

    def _placed(self, found: pl.DataFrame, chunk: Chunk, look: Look, session: Integers) -> pl.DataFrame:
        """Blocks of a batch with session, lines, offset and time; rank and node of the log where they name none."""
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

    def _shortened_gaps(self, chunk: Chunk) -> pl.DataFrame:
        """The gap that says which lines are not read completely."""
        rows = chunk.shortened()
        if not len(rows):
            return table("gaps")
        lines = np.unique(chunk.line[rows])
        more = f" and {len(lines) - 1} more lines" if len(lines) > 1 else ""
        limit = f"{MAX_ROW_BYTES:,} bytes"
        why = f"the middle of line {lines[0]}{more}: of a line above {limit} only both ends are read"
        offset = None if chunk.offset is None else [chunk.offset[rows[0]]]
        return table("gaps", {"file": self.name, "offset": offset, "why": [why]})

    def _unlisted_gaps(self, lost: Hits, chunk: Chunk) -> pl.DataFrame:
        """The gaps that say how many lines of one pattern are not listed, with the first of them."""
        if not len(lost):
            return table("gaps")
        _, first, count = np.unique(lost.pattern, return_index=True, return_counts=True)
        order = np.argsort(first)
        shown = (text.strip()[:_MAX_SHOWN] for text in chunk.some(lost.row[first[order]]))
        why = [f"{n} more lines like {text!r} not listed" for text, n in zip(shown, count[order].tolist(), strict=True)]
        offset = None if chunk.offset is None else chunk.offset[lost.row[first[order]]]
        return table("gaps", {"file": self.name, "offset": offset, "why": why})
