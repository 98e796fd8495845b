"""W&B run files (`run-*.wandb`): history, system metrics, config, summary and how the run ended."""

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
from loganalyst.sources.wandb.jsonitems import unused_told
from loganalyst.sources.wandb.leveldb import Batch, batches
from loganalyst.sources.wandb.metricrows import Rows
from loganalyst.sources.wandb.plaincolumns import Found, columns
from loganalyst.sources.wandb.plainrecords import Chunk, Mask
from loganalyst.sources.wandb.runfacts import Facts

NAME = "wandb"
FILE_HEADER = b":W&B\xe1\xbe\x00"  # name, magic number 0xBEE1, version 0
CONSOLE = "files/output.log"  # beside the file: the console's output as text


def sniff(path: Path, head: bytes) -> float:
    """1 for W&B's file header, 0.9 for its file name (the file may be empty or damaged)."""
    return 1.0 if head.startswith(FILE_HEADER[:4]) else 0.9 * (path.suffix == ".wandb")


def read(path: Path) -> Iterator[Tables]:
    """The file's tables in batches; config, session and metrics of the summary come when it was read to its end, then
    what is known of the lines printed (`lines`, `blocks`), unless their text lies beside it. Raises OSError.
    """
    yield from resume(path, None)


def resume(path: Path, mark: Mark | None) -> Generator[Tables, None, Mark | None]:
    """The tables of what follows `mark` (`loganalyst.sources.files.readmark`). Raises OSError, StartAgainError."""
    run = _Run(path, mark.state if mark else {})
    if run.facts.console_lines and run.console:
        raise StartAgainError(f"{path}: what was printed is read as a whole")
    kept = Counter(mark.kept if mark else {})
    with opened(path) as file:
        header = file.read(len(FILE_HEADER))
        at = mark.offset if mark else len(FILE_HEADER)
        if mark and path.stat().st_size < at:
            raise StartAgainError(f"{path}: shorter than what was read of it")
        for batch in batches(file, at):
            tables = run.batch(batch)
            kept += {"points": tables.points.height, "distributions": tables.distributions.height}
            kept += {"gaps": tables.gaps.height}
            yield tables
    told = Mark(batch.behind, dict(kept), run.state())
    yield run.ending(header, batch.unfinished)
    if run.console and run.console.text:
        yield from printed(run.console.text)
    return told if len(header) == len(FILE_HEADER) else None


class _Run:
    """What the records of a file have said so far."""

    def __init__(self, path: Path, state: Mapping[str, Any]) -> None:
        self.path, self.name = path, path.name
        self.rows, self.facts = Rows(self.name), Facts()
        self.console = None if sibling(path, CONSOLE) else Console()  # what is beside is read there
        self.any = False  # whether a record was understood
        self.damaged = False
        if state:
            self.facts.restore(state["facts"])
            self.rows.restore(state["rows"])
            self.any, self.damaged = state["any"], state["damaged"]

    def state(self) -> dict[str, Any]:
        """What must be known to read on, as JSON."""
        return {"facts": self.facts.state(), "rows": self.rows.state(), "any": self.any, "damaged": self.damaged}

    def batch(self, batch: Batch) -> Tables:
        """Take in records: plain ones side by side, the rest one by one; what cannot be decoded becomes a gap."""
        chunk, gaps = Chunk(batch), list(batch.gaps)
        done = self._history(chunk) | self._stats(chunk) | self._summaries(chunk)
        self.any |= bool(done.any())
        for place in np.flatnonzero(~done).tolist():
            data = chunk.data[batch.starts[place] : batch.ends[place]]
            try:
                self._add(place, data, *proto.record(data))
                self.any = True
            except (ValueError, IndexError, RecursionError) as error:
                gaps.append(Gap(int(batch.offsets[place]), len(data), f"no W&B record ({error})"))
        self.damaged |= bool(gaps)
        return self._logged(gaps)

    def _history(self, chunk: Chunk) -> Mask:
        """Takes in the plain rows of the history; which records they are."""
        places = chunk.of(proto.HISTORY)
        if not len(places):
            return np.zeros(len(chunk.tag), np.bool_)
        begin, end = chunk.start[places], chunk.end[places]
        items, plain = chunk.items(begin, end, proto.HISTORY_ITEM, proto.HISTORY_STEP)
        return self._columns(chunk, columns(chunk, items, places, plain))

    def _stats(self, chunk: Chunk) -> Mask:
        """Takes in the plain system metrics; which records they are."""
        places = chunk.of(proto.STATS)
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
        """Takes in the summaries if all are plain: only the last value of each key is looked at."""
        places = chunk.of(proto.SUMMARY)
        items, plain = chunk.items(chunk.start[places], chunk.end[places], proto.UPDATE)
        done = np.zeros(len(chunk.tag), np.bool_)
        if plain.all():
            done[places] = True
            last = np.zeros(len(items.keys), np.int64)
            last[items.code] = np.arange(len(items.code))  # of several the last one stays
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
        """What is known at the end of the file, with the metrics that stand in the summary only."""
        settings, cut = self.facts.settings()
        gaps = [gap for gap in (unfinished, self._header_gap(header, unfinished)) if gap]
        gaps += [Gap(0, 0, why) for why in (cut, self._summarise(), *self._passed()) if why]
        session, logged = self._session(), self._logged(gaps)
        return Tables(
            points=logged.points,
            config=config_table(settings, self.name),
            gaps=logged.gaps,
            sessions=session,
        )

    def _summarise(self) -> str:
        """Takes in the numbers that only the summary has; why it cannot be used, if it cannot."""
        summary = self.facts.summary
        try:
            self.rows.add(self.rows.layout(list(summary)), list(summary.values()), new_only=True)
        except (ValueError, IndexError, RecursionError) as error:
            return f"the summary cannot be used ({error})"
        return ""

    def _passed(self) -> Iterator[str]:
        """What the file holds that has no place in the tables."""
        if self.rows.unused:
            yield unused_told(self.rows.unused)
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
        return Gap(len(header), 0, "the file ends behind its header: nothing was logged")
