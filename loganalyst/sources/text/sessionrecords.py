"""What the batches of a job log add to its sessions, and the tables of them."""

from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import table
from loganalyst.patterntraits import having
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import Look
from loganalyst.sources.text.lines.numberrecords import NONE
from loganalyst.sources.text.patterns.catalogue import PARTS
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits
from loganalyst.sources.text.starts import MAX_SESSIONS, Starts

_JUDGED = ("root", "stop", "peer", "confirm", "aside")  # parts that decide how a session ended


def add(
    starts: Starts, hits: Hits, known: Catalogue, chunk: Chunk, look: Look, *, number_rows: NDArray[np.int64]
) -> None:
    """Record what the summary needs of a batch: the lines `hits` that `known` claims, and the rows `number_rows` that
    hold a metric.
    """
    _add_progress(starts, np.sort(number_rows), chunk, look)
    answers = hits.line[hits.chain != NONE]
    for number, line in zip(starts.at(answers).tolist(), answers.tolist(), strict=True):
        starts.all[number].answered = line
    _add_ends(starts, hits, known)


def _add_progress(starts: Starts, number_rows: NDArray[np.int64], chunk: Chunk, look: Look) -> None:
    """Record the lines with a metric and the times of a batch."""
    here = starts.all[starts.holding(int(chunk.line[0])) :] if len(chunk) else []
    begins = np.searchsorted(chunk.line, [session.first_line for session in here])
    begins[:1] = 0
    for session, (begin, end) in zip(here, pairwise([*begins.tolist(), len(chunk)]), strict=True):
        if begin == end:
            continue
        numbers = number_rows[slice(*np.searchsorted(number_rows, (begin, end)))]
        if len(numbers):
            session.add_progress(chunk.line[numbers])
        session.add_times(look.time[begin:end].view(np.int64))


def _add_ends(starts: Starts, hits: Hits, known: Catalogue) -> None:
    """Record the faults, end marks and heads of tracebacks."""
    ids = (*having("terminated"), *having("traceback"))
    training_ends = {*having("finished"), *having("early_stop")}
    more = np.isin(hits.pattern, [n for n, pattern in enumerate(known.ids) if pattern in ids])
    judged = hits[hits.with_parts(*_JUDGED, "end") | more]
    columns = (starts.at(judged.line), judged.line, judged.pattern, judged.part, judged.captures)
    for number, line, pattern, part_number, captures in zip(*(column.tolist() for column in columns), strict=True):
        part = PARTS[part_number]
        session = starts.all[number]
        if part == "end":
            session.add_end(line, of_training=known.ids[pattern] in training_ends)
        elif known.ids[pattern] in having("traceback"):
            session.head = line
        else:
            session.add_fault(part, (line, known.labels[pattern], known.ids[pattern]), captures)


def summary(source: str, starts: Starts, last_line: int) -> pl.DataFrame:
    """The `sessions` table of the file `source`."""
    sessions = starts.all
    first_lines = [s.first_line for s in sessions]
    lasts = [*(s - 1 for s in first_lines[1:]), max(last_line, first_lines[-1])]
    times = {
        name: pl.Series([getattr(s, name) for s in sessions], dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
        for name in ("started", "ended")
    }
    return table("sessions", {
        "session": list(range(len(sessions))),
        "source": source,
        "first_line": first_lines,
        "last_line": lasts,
        **times,
        "status": [s.status(last) for s, last in zip(sessions, lasts, strict=True)],
        "job": [s.job for s in sessions],
    })  # fmt: skip


def left_out(source: str, starts: Starts) -> pl.DataFrame:
    """The gap of the file `source` that says how many starts are not counted separately."""
    why = (
        f"{starts.more:,} more starts of the program count to the last session: "
        f"a file has at most {MAX_SESSIONS:,} sessions"
    )
    return table("gaps", {"file": source, "offset": [None], "why": [why]} if starts.more else None)
