"""W&B run files (`run-*.wandb`): history, system metrics, config, summary, and the end of the run."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import Tables, table
from loganalyst.opening import opened, sibling
from loganalyst.sources.files.embeddedtext import printed
from loganalyst.sources.files.flatten import config_table
from loganalyst.sources.files.gaps import Gap, gap_table
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.files.timestamps import from_seconds
from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.console import Console
from loganalyst.sources.wandb.jsonitems import unused_summary
from loganalyst.sources.wandb.leveldb import WINDOW, Batch, batches
from loganalyst.sources.wandb.metricrows import Rows
from loganalyst.sources.wandb.plaincolumns import Found, columns
from loganalyst.sources.wandb.plainrecords import MAX_VALUE, Chunk, Mask
from loganalyst.sources.wandb.runfacts import Facts

NAME = "wandb"
FILE_HEADER = b":W&B\xe1\xbe\x00"  # name, magic number 0xBEE1, version 0
CONSOLE = "files/output.log"  # the console output as text, relative to the run file's folder


def sniff(path: Path, head: bytes) -> float:
    """1 for W&B's file header; 0.9 for its file name, since the file may be empty or damaged."""
    return 1.0 if head.startswith(FILE_HEADER[:4]) else 0.9 * (path.suffix == ".wandb")


def read(path: Path, **limits: int) -> Iterator[Tables]:
    """The file's tables in batches. Raises OSError.

    Config, session and metrics of the summary come at the end of the file. `lines` and `blocks` of the console output
    follow, unless CONSOLE exists.
    """
    yield from resume(path, None, **limits)


def resume(
    path: Path, mark: Mark | None, *, window: int = WINDOW, max_value: int = MAX_VALUE
) -> Generator[Tables, None, Mark | None]:
    """The tables of the records behind `mark` (`loganalyst.sources.files.readmark`). Raises OSError, StartAgainError.

    `window`: bytes read at a time. `max_value`: bytes of the longest value that is decoded in parallel.
    """
    run = _Run(path, mark.state if mark else {}, max_value)
    if run.facts.console_lines and run.console:
        raise StartAgainError(f"{path}: its console output is read as a whole")
    kept = Counter(mark.kept if mark else {})
    with opened(path) as file:
        header = file.read(len(FILE_HEADER))
        at = mark.offset if mark else len(FILE_HEADER)
        if mark and path.stat().st_size < at:
            raise StartAgainError(f"{path}: shorter than the part already read")
        for batch in batches(file, at, window=window):
            tables = run.batch(batch)
            kept += {"points": tables.points.height, "distributions": tables.distributions.height}
            kept += {"gaps": tables.gaps.height}
            yield tables
    reached = Mark(batch.behind, dict(kept), run.state())
    yield run.ending(header, batch.unfinished)
    if run.console and run.console.text:
        yield from printed(run.console.text)
    return reached if len(header) == len(FILE_HEADER) else None


class _Run:
    """The state of a run, from the records read so far."""

    def __init__(self, path: Path, state: Mapping[str, Any], max_value: int) -> None:
        self.path, self.name, self.max_value = path, path.name, max_value
        self.rows, self.facts = Rows(self.name), Facts()
        self.console = None if sibling(path, CONSOLE) else Console()  # an existing file is read by the text reader
        self.any = False  # whether any record was decoded
        self.damaged = False
        if state:
            self.facts.restore(state["facts"])
            self.rows.restore(state["rows"])
            self.any, self.damaged = state["any"], state["damaged"]

    def state(self) -> dict[str, Any]:
        """The state needed to resume, as JSON."""
        return {"facts": self.facts.state(), "rows": self.rows.state(), "any": self.any, "damaged": self.damaged}

    def batch(self, batch: Batch) -> Tables:
        """Decode records: plain ones in parallel, others one by one. Undecodable ones become gaps."""
        chunk, gaps = Chunk(batch, self.max_value), list(batch.gaps)
        done = self._history(chunk) | self._stats(chunk) | self._summaries(chunk)
        self.any |= bool(done.any())
        for place in np.flatnonzero(~done).tolist():
            data = chunk.data[batch.starts[place] : batch.ends[place]]
            try:
                self._add(place, data, *proto.record(data))
                self.any = True
            except (ValueError, IndexError, RecursionError) as error:
                gaps.append(Gap(int(batch.offsets[place]), len(data), f"not a W&B record ({error})"))
        self.damaged |= bool(gaps)
        return self._logged(gaps)

    def _history(self, chunk: Chunk) -> Mask:
        """Decode the plain history rows. Returns which records they are."""
        places = chunk.positions(proto.HISTORY)
        if not len(places):
            return np.zeros(len(chunk.tag), np.bool_)
        begin, end = chunk.start[places], chunk.end[places]
        items, plain = chunk.items(begin, end, proto.HISTORY_ITEM, proto.HISTORY_STEP)
        return self._columns(chunk, columns(chunk, items, places, plain))

    def _stats(self, chunk: Chunk) -> Mask:
        """Decode the plain system metrics. Returns which records they are."""
        places = chunk.positions(proto.STATS)
        if not len(places):
            return np.zeros(len(chunk.tag), np.bool_)
        begin, end, times = chunk.start[places], chunk.end[places], np.zeros(len(places))
        whole = np.ones(len(places), np.bool_)
        for i in range(len(places)):
            try:
                times[i], begin[i] = proto.stats_head(chunk.data, int(begin[i]), int(end[i]))
            except (ValueError, IndexError):
                whole[i] = False
        items, plain = chunk.items(begin, end, proto.STATS_ITEM)
        return self._columns(chunk, columns(chunk, items, places, plain & whole, times))

    def _columns(self, chunk: Chunk, found: Found) -> Mask:
        self.rows.add_columns(found.columns, found.names)
        self.rows.add_unused(found.unused)
        done = np.zeros(len(chunk.tag), np.bool_)
        done[found.columns.places] = True
        return done

    def _summaries(self, chunk: Chunk) -> Mask:
        """Decode the summaries if all are plain: only the last value of each key counts."""
        places = chunk.positions(proto.SUMMARY)
        items, plain = chunk.items(chunk.start[places], chunk.end[places], proto.UPDATE)
        done = np.zeros(len(chunk.tag), np.bool_)
        if plain.all():
            done[places] = True
            last = np.zeros(len(items.keys), np.int64)
            last[items.code] = np.arange(len(items.code))  # the last assignment wins
            values = [chunk.data[items.start[i] : items.end[i]] for i in last.tolist()]
            self.facts.summary |= zip(items.keys, values, strict=True)
        return done

    def _add(self, place: int, data: bytes, kind: int, at: int, end: int) -> None:
        if kind == proto.HISTORY:
            keys, values = proto.items(data, at, end, proto.HISTORY_ITEM)
            layout = self.rows.layout(keys)
            step = None if "_step" in layout.axes else proto.step(data, at, end)
            self.rows.add(layout, values, place=place, step=step)
        elif kind == proto.STATS:
            keys, values = proto.items(data, at, end, proto.STATS_ITEM)
            time = proto.time(data, at, end, proto.STATS_TIME)
            self.rows.add(self.rows.layout(keys, "system/"), values, place=place, time=time)
        else:
            self.facts.add(data, kind, at, end)
            if kind == proto.OUTPUT and self.console:
                self.console.add(data, at, end)

    def _logged(self, gaps: list[Gap]) -> Tables:
        """The metrics since the last batch."""
        points, distributions = self.rows.take()
        return Tables(points=points, distributions=distributions, gaps=gap_table(gaps, self.name))

    def ending(self, header: bytes, unfinished: Gap | None) -> Tables:
        """The tables of the end of the file, with the metrics that only the summary has."""
        settings, cut = self.facts.settings()
        gaps = [gap for gap in (unfinished, self._header_gap(header, unfinished)) if gap]
        gaps += [Gap(0, 0, why) for why in (cut, self._summarise(), *self._not_read()) if why]
        session, logged = self._session(), self._logged(gaps)
        return Tables(
            points=logged.points,
            config=config_table(settings, self.name),
            gaps=logged.gaps,
            sessions=session,
        )

    def _summarise(self) -> str:
        """Add the numbers that only the summary has. Returns why it cannot be used, or an empty text."""
        summary = self.facts.summary
        try:
            self.rows.add(self.rows.layout(list(summary)), list(summary.values()), new_only=True)
        except (ValueError, IndexError, RecursionError) as error:
            return f"the summary cannot be used ({error})"
        return ""

    def _not_read(self) -> Iterator[str]:
        """The contents of the file that no table holds."""
        if self.rows.unused:
            yield unused_summary(self.rows.unused)
        for kind, n in sorted(self.facts.passed.items()):
            yield f"{n} records of {kind} are not read"

    def _session(self) -> pl.DataFrame:
        if not self.any:
            return table("sessions")
        started, ended = from_seconds([self.facts.started, max(self.facts.ended, self.rows.ended)]).to_list()
        row = {"session": [0], "source": self.name, "started": started, "ended": ended, "status": self.facts.status}
        return table("sessions", row | {"job": self.facts.facts.get("slurm.job_id")})

    def _header_gap(self, header: bytes, unfinished: Gap | None) -> Gap | None:
        if len(header) < len(FILE_HEADER):
            return Gap(0, len(header), "the file ends inside its header" if header else "empty file")
        if header != FILE_HEADER:
            return Gap(0, len(header), "no W&B file header")
        if self.any or self.damaged or unfinished:
            return None
        return Gap(len(header), 0, "the file ends after its header: nothing was logged")
