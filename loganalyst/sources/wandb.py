"""W&B run files (`run-*.wandb`): history, system metrics, config, summary and how the run ended."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from loganalyst.model import Tables, table
from loganalyst.sources import wandbproto
from loganalyst.sources.flatten import Leaf, TooLargeError, config_table, leaves
from loganalyst.sources.gaps import Gap, gap_table
from loganalyst.sources.leveldb import Record, records
from loganalyst.sources.timestamps import from_seconds
from loganalyst.sources.wandbcolumns import columns
from loganalyst.sources.wandbplain import Chunk, Ints, Mask
from loganalyst.sources.wandbrows import Columns, Rows

NAME = "wandb"
INTERRUPTED = 255  # exit code after Ctrl-C; an uncaught exception gives 1
FILE_HEADER = b":W&B\xe1\xbe\x00"  # name, magic number 0xBEE1, version 0
BATCH = 4 << 20  # bytes of records decoded at once
OWN = "_wandb"  # prefix of what W&B says of the run, and its key among the user's settings


def sniff(path: Path, head: bytes) -> float:
    """1 for W&B's file header, 0.9 for its file name (the file may be empty or damaged)."""
    return 1.0 if head.startswith(FILE_HEADER[:4]) else 0.9 * (path.suffix == ".wandb")


def read(path: Path) -> Iterator[Tables]:
    """The file's tables in batches; config, session and metrics of the summary come with the last. Raises OSError."""
    run, held, size = _Run(path.name), list[Record](), 0
    with path.open("rb") as file:
        header = file.read(len(FILE_HEADER))
        for found in records(file, len(header)):
            if isinstance(found, Gap):
                run.gaps.append(found)
                continue
            held.append(found)
            size += len(found.data)
            if size >= BATCH:
                run.add(held)
                yield run.batch()
                held, size = [], 0
    run.add(held)
    yield run.ending(header)


class _Run:
    """What the records of a file have said so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows = Rows(name)
        self.gaps: list[Gap] = []
        self.config: dict[str, Any] = {}
        self.facts: dict[str, Leaf] = {}
        self.summary: dict[bytes, bytes] = {}
        self.started = self.ended = 0.0
        self.status: str | None = None
        self.preempting = self.any = False

    def add(self, records: list[Record]) -> None:
        """Take in records: plain ones side by side, the rest one by one; what cannot be decoded becomes a gap."""
        chunk = Chunk([record.data for record in records])
        done = self._history(chunk) | self._stats(chunk) | self._summaries(chunk)
        self.any |= bool(done.any())
        for place in np.flatnonzero(~done).tolist():
            offset, data = records[place]
            try:
                self._add(place, data, *wandbproto.record(data))
                self.any = True
            except (ValueError, IndexError, RecursionError) as error:
                self.gaps.append(Gap(offset, len(data), f"no W&B record ({error})"))

    def _history(self, chunk: Chunk) -> Mask:
        """Takes in the plain rows of the history; which records they are."""
        places = chunk.of(wandbproto.HISTORY)
        items, plain = chunk.items(places, wandbproto.HISTORY_ITEM, wandbproto.HISTORY_STEP)
        return self._columns(chunk, places, *columns(chunk, items, places, plain))

    def _stats(self, chunk: Chunk) -> Mask:
        """Takes in the plain system metrics; which records they are."""
        places = chunk.of(wandbproto.STATS)
        items, plain = chunk.items(places, wandbproto.STATS_ITEM, wandbproto.STATS_TIME)
        times = np.zeros(len(places))
        for i in np.flatnonzero(plain).tolist():
            try:
                at, end = int(chunk.start[places[i]]), int(chunk.end[places[i]])
                times[i] = wandbproto.time(chunk.data, at, end, wandbproto.STATS_TIME)
            except (ValueError, IndexError):
                plain[i] = False
        return self._columns(chunk, places, *columns(chunk, items, places, plain, times))

    def _columns(self, chunk: Chunk, places: Ints, found: Columns, names: list[str | None], taken: Mask) -> Mask:
        self.rows.add_columns(found, names)
        done = np.zeros(len(chunk.tag), np.bool_)
        done[places[taken]] = True
        return done

    def _summaries(self, chunk: Chunk) -> Mask:
        """Takes in the summaries if all are plain: only the last value of each key is looked at."""
        places = chunk.of(wandbproto.SUMMARY)
        items, plain = chunk.items(places, wandbproto.UPDATE)
        done = np.zeros(len(chunk.tag), np.bool_)
        if plain.all():
            done[places] = True
            last = np.zeros(len(items.keys), np.int64)
            last[items.code] = np.arange(len(items.code))  # of several the last one stays
            values = [chunk.data[items.start[i] : items.end[i]] for i in last.tolist()]
            self.summary |= zip(items.keys, values, strict=True)
        return done

    def _add(self, place: int, data: bytes, kind: int, at: int, end: int) -> None:
        match kind:
            case wandbproto.HISTORY:
                keys, values = wandbproto.items(data, at, end, wandbproto.HISTORY_ITEM)
                layout = self.rows.layout(keys)
                step = None if "_step" in layout.axes else wandbproto.step(data, at, end)
                self.rows.add(layout, values, place=place, step=step)
            case wandbproto.STATS:
                keys, values = wandbproto.items(data, at, end, wandbproto.STATS_ITEM)
                time = wandbproto.time(data, at, end, wandbproto.STATS_TIME)
                self.rows.add(self.rows.layout(keys, "system/"), values, place=place, time=time)
            case wandbproto.SUMMARY:
                self.summary |= zip(*wandbproto.items(data, at, end, wandbproto.UPDATE), strict=True)
                for key in wandbproto.items(data, at, end, wandbproto.REMOVE)[0]:
                    self.summary.pop(key, None)
            case wandbproto.OUTPUT:
                self.ended = max(self.ended, wandbproto.time(data, at, end, wandbproto.OUTPUT_TIME))
            case wandbproto.CONFIG:
                self._configure(data, at, end)
            case wandbproto.RUN:
                self.started = wandbproto.time(data, at, end, wandbproto.RUN_START)
                self.facts |= wandbproto.settings(data, at, end, wandbproto.RUN_FIELDS)
                for a, b in wandbproto.spans(data, at, end, wandbproto.RUN_CONFIG):
                    self._configure(data, a, b)
            case wandbproto.ENVIRONMENT:
                self.facts |= wandbproto.settings(data, at, end, wandbproto.ENVIRONMENT_FIELDS)
            case wandbproto.PREEMPTING:
                self.preempting = True
            case wandbproto.EXIT:
                code = wandbproto.number(data, at, end, wandbproto.EXIT_CODE)
                self.facts["exit_code"] = code
                ended = "preempted" if self.preempting else "cancelled" if code == INTERRUPTED else "failed"
                self.status = "finished" if code == 0 else ended

    def _configure(self, data: bytes, at: int, end: int) -> None:
        """Follow a ConfigRecord: settings are set, or replaced, or removed under their nested keys."""
        for key, raw in zip(*wandbproto.items(data, at, end, wandbproto.UPDATE), strict=True):
            path = wandbproto.path(key)
            if path and path[0] != OWN:
                self._place(path)[path[-1]] = json.loads(raw)
        for key in wandbproto.items(data, at, end, wandbproto.REMOVE)[0]:
            if path := wandbproto.path(key):
                self._place(path).pop(path[-1], None)

    def _place(self, path: tuple[str, ...]) -> dict[str, Any]:
        """The mapping of the config that holds the last name of `path`."""
        inner = self.config
        for name in path[:-1]:
            if not isinstance(inner.get(name), dict):
                inner[name] = {}
            inner = inner[name]
        return inner

    def batch(self) -> Tables:
        """The metrics read since the last batch."""
        points, distributions = self.rows.take()
        return Tables(points=points, distributions=distributions)

    def ending(self, header: bytes) -> Tables:
        """What is known at the end of the file, with the metrics that stand in the summary only."""
        logged = self.batch()
        self._summarise()
        rest = Tables.concat([logged, self.batch()])
        settings = config_table(self._settings(), self.name)
        if header != FILE_HEADER or not (self.any or self.gaps):
            self.gaps.append(_header_gap(header))
        return Tables(
            points=rest.points,
            distributions=rest.distributions,
            config=settings,
            gaps=gap_table(self.gaps, self.name),
            sessions=self._session(),
        )

    def _summarise(self) -> None:
        try:
            self.rows.add(self.rows.layout(list(self.summary)), list(self.summary.values()), new_only=True)
        except (ValueError, IndexError, RecursionError) as error:
            self.gaps.append(Gap(0, 0, f"the summary cannot be used ({error})"))

    def _settings(self) -> list[tuple[str, Leaf]]:
        found = [(f"{OWN}.{key}", value) for key, value in self.facts.items()]
        try:
            found.extend(leaves(self.config) if self.config else ())
        except TooLargeError as error:
            self.gaps.append(Gap(0, 0, f"config not read to its end ({error})"))
        return found

    def _session(self) -> Any:
        if not self.any:
            return table("sessions")
        started, ended = from_seconds([self.started, max(self.ended, self.rows.ended)]).to_list()
        row = {"session": [0], "source": self.name, "started": started, "ended": ended, "status": self.status}
        return table("sessions", row | {"job": self.facts.get("slurm.job_id")})


def _header_gap(header: bytes) -> Gap:
    if len(header) < len(FILE_HEADER):
        return Gap(0, len(header), "the file ends inside its header" if header else "empty file")
    if header != FILE_HEADER:
        return Gap(0, len(header), "no W&B file header")
    return Gap(len(header), 0, "the file ends behind its header: nothing was logged")
