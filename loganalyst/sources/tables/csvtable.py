"""One table of delimited text: the state that its reading carries from block to block."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from pathlib import Path

import polars as pl

from loganalyst.model import HEADER_ALONE, Tables, Time
from loganalyst.sources.files.constantcolumns import Constants
from loganalyst.sources.files.flatten import Leaf, config_of, config_table
from loganalyst.sources.files.lineblocks import Block, gap, text
from loganalyst.sources.tables import (
    cells,
    commentnames,
    csvexports,
    csvheader,
    csvuniform,
    namecolumns,
    namedpoints,
    stepcolumns,
    unnamed,
)
from loganalyst.sources.tables.cells import Rows
from loganalyst.sources.tables.csvlikeness import MONITOR
from loganalyst.sources.tables.csvlosses import Losses
from loganalyst.sources.tables.stepcolumns import Axes, normalised

_MAX_COLUMNS = 5_000
_PEEK = 20  # rows from which text columns are recognised
_NAMES_SHOWN = 5  # in a gap


def comments_above(lines: Sequence[str]) -> list[str]:
    """The comments above the first row."""
    return [*takewhile(lambda line: line.startswith("#"), lines)]


@dataclass
class TextTable:
    """One table, and the state carried from block to block."""

    path: Path
    sep: str = ""
    header: list[str] = field(default_factory=list)
    spelled: Sequence[str] = ()  # the header as it is written
    comments: Sequence[str] = ()  # the lines above the table that began with #
    axes: Axes | None = None
    unnamed: str = ""  # the first column where it has no name: pandas' index
    session: int = -1
    started: float | None = None  # of a monitor.csv
    refused: str = ""
    rows: int = 0
    found: bool = False
    words: set[str] = field(default_factory=set)  # the columns that held texts so far
    unread: dict[str, None] = field(default_factory=dict)  # columns of texts, in order
    settings: dict[str, Leaf] = field(default_factory=dict)
    constants: Constants = field(default_factory=Constants)
    sample: str = ""  # the first row of a table without a header
    losses: Losses = field(init=False)

    def __post_init__(self) -> None:
        self.losses = Losses(self.path)

    def feed(self, block: Block) -> Iterator[Tables]:
        """The points of one block."""
        if not self.sep:
            yield from self._open(block)
        if not self.header and self.sep:
            block = self._first_header(block)
        if self.refused or not self.sep:
            return
        if self.header and (uniform := csvuniform.rows(block, self.sep, self.header, self.words)):
            yield from self._points(uniform)
        else:
            yield from self._cell_by_cell(block)

    def _cell_by_cell(self, block: Block) -> Iterator[Tables]:
        """The points of a block, with each cell looked at."""
        frame, broken = cells.rows(block, self.sep)
        for line in broken:
            self.losses.lines("rows with a quote that never closes", block, pl.Series([line]))
        at = 0
        for place in csvheader.repeated_headers(frame, [*self.header, *self.spelled]):
            yield from self._points(self._rows(frame[at:place], block))
            self._begin(frame["cells"][place].to_list())
            at = place + 1
        yield from self._points(self._rows(frame[at:], block))

    def gap_rows(self) -> Tables:
        """The gaps of the whole file."""
        if self.refused:
            return Tables(gaps=gap(self.path, self.refused, 0, self.path.stat().st_size))
        rows = [*unnamed.hint(self.path, self.header, self.rows, self.sample)] if self.sample else []
        rows += self.losses.gaps()
        if self.unread and self.found:
            named = ", ".join(map(repr, islice(self.unread, _NAMES_SHOWN))) + ", …" * (len(self.unread) > _NAMES_SHOWN)
            rows.append(gap(self.path, f"text columns are not read ({len(self.unread)}): {named}"))
        if not self.found and not rows:
            nothing = HEADER_ALONE if self.header else "no rows: the file is empty"
            rows = [gap(self.path, "no numeric column" if self.rows else nothing, 0)]
        return Tables(gaps=pl.concat(rows)) if rows else Tables()

    def _open(self, block: Block) -> Iterator[Tables]:
        """Find the separator, and read the comment above the table; Stable-Baselines3 puts settings there as JSON."""
        lines = [line for line in text(block.data[: 1 << 16]).split("\n")[:200] if line.strip()]
        above = comments_above(lines)
        rows = [line for line in lines if not line.startswith("#")]
        self.sep = cells.separator(rows) if rows else ""
        self.comments = above or self.comments
        try:
            facts = json.loads(above[0][1:]) if above else None
        except (ValueError, RecursionError):
            return
        if isinstance(facts, dict):
            self.started = facts.get("t_start") if isinstance(facts.get("t_start"), int | float) else None
            yield config_of(facts, self.path, prefix="monitor.")

    def _first_header(self, block: Block) -> Block:
        """Take the names from the first row or, if that has numbers, from the comment above; else invent names.

        Returns the block behind the header.
        """
        end = block.data.find(b"\n", 1 << 16) + 1 or len(block.data)
        opening = cells.rows(replace(block, data=block.data[:end]), self.sep)[0]
        frame = opening if opening.height > 1 else cells.rows(block, self.sep)[0]
        if not frame.height:
            return block
        first = frame["cells"][0].to_list()
        numbered = frame.height > 1 and csvheader.is_numbered(first)
        headed = numbered or not csvheader.is_unheaded(first)
        if headed and not numbered:
            self._begin(first)
        else:
            rows = cells.without_margin(frame["cells"].slice(int(numbered), _PEEK).to_list())
            self.sample = self.sep.join(rows[0])
            named = commentnames.names(self.comments, len(rows[0]))
            self._begin(named or csvheader.invented_names(pl.Series(rows), self.path))
        below = frame[headed:]
        peek = cells.columns(below.head(_PEEK), self.header, decimal_comma=self.sep == ";")
        self.words = {n for n, column in peek.texts.items() if column.count() and not peek.values[n].count()}
        return block.since(below["line"][0]) if below.height else replace(block, data=b"")

    def _begin(self, names: Sequence[str]) -> None:
        """Start a session with the names of a header."""
        if len(names) > _MAX_COLUMNS:
            self.refused = f"not a table of metrics: {len(names):,} columns; at most {_MAX_COLUMNS:,} are read"
            names = []
        if csvexports.comparison(names):
            self.refused = "a comparison of runs, one per row, without curves: export the history of one run"
        header = csvheader.unique_names(names, self.path)
        self.unnamed = header[0] if names and not names[0].strip() else ""
        self.header, self.axes, self.session = header, None, self.session + 1
        self.spelled = [name.strip() for name in names if name.strip()]

    def _rows(self, frame: pl.DataFrame, block: Block) -> Rows:
        """The rows below one header by column. Odd rows, and odd cells in numeric columns, become gaps."""
        frame = self.losses.whole_rows(frame, block, len(self.header))
        rows = cells.columns(frame, self.header, decimal_comma=self.sep == ";")
        for name in self.header:
            if _numeric(rows.values[name], rows.texts[name]) and normalised(name) not in stepcolumns.TIMES:
                self.losses.odd_cells(name, rows, block)
        return rows

    def _points(self, rows: Rows) -> Iterator[Tables]:
        """The points of rows below one header."""
        if self.refused or not len(rows.lines):
            return
        self.rows += len(rows.lines)
        values, texts = rows.values, rows.texts
        if self.axes is None:
            self._settle(values, texts)
        if self.refused or self.axes is None:
            return
        yield from self._configured(rows)
        aside = self._aside(values)
        metrics = [n for n in self.header if n not in aside and _numeric(values[n], texts[n])]
        words = {n: column for n, column in texts.items() if not values[n].count()}
        self.words = {n for n, column in words.items() if column.count()}
        unread = (n for n, column in texts.items() if n not in aside and not _numeric(values[n], column))
        self.unread.update(dict.fromkeys(n for n in unread if texts[n].count() and not _is_used(n, texts[n])))
        index = self._index(rows)
        found = namedpoints.wide_points(index, {n: values[n] for n in metrics}, words, self.path.name, self.constants)
        for piece in namedpoints.batches(found):
            self.found = True
            yield Tables(points=piece)

    def _configured(self, rows: Rows) -> Iterator[Tables]:
        """The settings that columns hold, each once."""
        found = csvexports.settings(rows.texts, rows.values)
        new = {name: value for name, value in found.items() if name not in self.settings}
        if new:
            self.settings.update(new)
            items = [(csvexports.key(name), value) for name, value in new.items()]
            yield Tables(config=config_table(items, self.path.name))

    def _aside(self, values: Mapping[str, pl.Series]) -> set[str]:
        """The columns that are not metrics: axes, settings, pandas' index, and W&B's own."""
        assert self.axes is not None
        counted = {self.unnamed} if self.unnamed and not stepcolumns.fractions(values[self.unnamed]) else set()
        kept = {name for name, value in self.settings.items() if not csvexports.changes(values[name], value)}
        return self.axes.used | kept | csvexports.idle(values) | counted

    def _settle(self, values: Mapping[str, pl.Series], texts: Mapping[str, pl.Series]) -> None:
        """Choose the axes. Refuse a table of texts without any, such as a list of data files."""
        numeric = {n: column for n, column in values.items() if _numeric(column, texts[n])}
        self.axes = Axes.choose({**numeric, **{n: texts[n] for n in stepcolumns.matching(texts, stepcolumns.TIMES)}})
        words = {normalised(n) for n, column in texts.items() if column.count() and n not in numeric}
        epoch = self.axes.epoch and not stepcolumns.is_still(values[self.axes.epoch])
        counted = self.axes.time or epoch or (self.axes.step and normalised(self.axes.step) != "index")
        if not counted and words - {*stepcolumns.PARTS, *stepcolumns.NAMES}:
            self.refused = (
                "not a table of metrics: texts without step, epoch or time" if numeric else "no numeric column"
            )

    def _index(self, rows: Rows) -> pl.DataFrame:
        """The session, line, step, epoch and time of each row."""
        assert self.axes is not None
        values, count = rows.values, len(rows.lines)
        time = {self.axes.time: rows.texts[self.axes.time]} if self.axes.time else {}
        before = self.axes.last_step or 0
        index = self.axes.place({**values, **time}, count)
        if self.started is not None and set(self.header) >= MONITOR:  # Stable-Baselines3 counts l as its timesteps
            seconds = (self.started + values["t"]) * 1e6
            index = index.with_columns(
                (before + values["l"].cum_sum()).cast(pl.Int64, strict=False).alias("step"),
                seconds.round().cast(pl.Int64, strict=False).cast(Time).alias("time"),
            )
            self.axes.last_step = index["step"][-1]
        session = self.constants.column(self.session, count, pl.Int32)
        return index.hstack([rows.lines.alias("line"), session.alias("session")])


def _numeric(values: pl.Series, texts: pl.Series) -> bool:
    """Whether at least half of the non-empty cells of a column are numbers."""
    return 2 * values.count() >= texts.count() > 0


def _is_used(name: str, texts: pl.Series) -> bool:
    """Whether the texts of a column are times, or complete the names of metrics."""
    return normalised(name) in stepcolumns.TIMES or namecolumns.is_used(name, texts)
