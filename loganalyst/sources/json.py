"""Metrics in JSON: an object a line (detectron2, mmengine, DETR, Ray Tune …), a list of objects, a Hugging Face trainer
state, or lists of numbers by metric (Keras' History).

Nested names are joined with ``/``. Bare NaN and Infinity are numbers; true, false and texts are no metrics.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import Tables
from loganalyst.sources import columns, jsonplain
from loganalyst.sources.columns import Axes
from loganalyst.sources.flatten import Leaf, config_of, config_table, number, printable
from loganalyst.sources.jsonplain import Ints, Wide
from loganalyst.sources.jsonshape import loaded, number_lists, shape
from loganalyst.sources.textblocks import Block, blocks, gap, place, text

NAME = "json"

_SUMMARIES = {"wandb-summary.json"}  # the last values of a history that the run's own file holds
_SCORES = {"log_history": 1.0, "history": 0.8, "array": 0.7}
_LARGEST = 256 << 20  # bytes of a file that must be read as a whole
_LONGEST_LIST = 64  # a longer one is a histogram or an image
_DEEPEST = 10
_TEXTS = {*columns.TIMES, *columns.PARTS, *columns.NAMES}  # columns whose texts say something
_NUMBER = re.compile(r"-?(?:\d+\.\d+(?:[eE][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
_LIKELY_NUMBER = r"(?i)^-?(?:\d+\.|nan|inf)"
_MOST_GAPS = 1000
_BLOCK = 2 << 20  # bytes
_DECODER = json.JSONDecoder()
_Long = tuple[list[int], list[str], list[Any]]


def sniff(path: Path, head: bytes) -> float:
    """How surely the file holds metrics: by the shape of its opening, and whether its rows count steps."""
    opening = text(head)
    kind = None if path.name in _SUMMARIES or not opening.strip() else shape(path, opening)
    if kind != "lines":
        return _SCORES.get(kind or "", 0.0)
    rows = [row for line in opening.split("\n")[:20] if isinstance(row := loaded(line), dict)]
    keys = {key: None for row in rows for key, _ in _values(row)}
    if columns.known(keys, (*columns.STEPS, *columns.EPOCHS)):
        return 0.95
    return 0.6 if len(keys) > 1 else 0.3


def read(path: Path) -> Iterator[Tables]:
    """The file's points, in file order; what else a trainer state or a Ray result holds as config."""
    with path.open("rb") as file:
        kind = shape(path, text(file.read(1 << 16)))
    if kind == "lines":
        yield from _read_lines(path)
    elif path.stat().st_size > _LARGEST:
        yield Tables(gaps=gap(path, f"larger than {_LARGEST >> 20} MiB and not an object a line", 0))
    else:
        yield from _read_whole(path, path.read_bytes(), kind)


def _read_lines(path: Path) -> Iterator[Tables]:
    log = _Log(path)
    for block in blocks(path, size=_BLOCK, quoted=False):
        yield from _block(log, block)
    yield log.rest()


def _block(log: "_Log", block: Block) -> Iterator[Tables]:
    """The points of a block: of lines that are alike by column, of the others as the parser reads each."""
    wide, left = jsonplain.read(block.data, _values)
    records: list[dict[str, Any]] = []
    places: list[int] = []
    for nth, begin, line in _lines(block.data, left):
        found, end = _objects(line, line.decode()) if line else ([], 0)
        records += found
        places += [nth] * len(found)
        if end < len(line):
            log.broken(block.line + nth, block.at(begin + end), block.extent(line[end:]))
    yield from log.records(records, wide, np.array(places, np.int64), block.line)


def _lines(data: bytes, wanted: Ints) -> Iterator[tuple[int, int, bytes]]:
    """Some lines of a block in order: the place among its lines, where the line begins, the line."""
    if len(wanted):
        ends = np.append(np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")), len(data))
        begins = np.append(0, ends[:-1] + 1)
        for nth in np.sort(wanted).tolist():
            begin = int(begins[nth])
            yield nth, begin, data[begin : ends[nth]]


def _objects(line: bytes, content: str) -> tuple[list[dict[str, Any]], int]:
    """The objects a line begins with (two writers may share one), and how many bytes of it they take."""
    if not line.strip():
        return [], len(line)
    if content.startswith('{"'):  # the usual line: one object to its end
        with suppress(ValueError, RecursionError):
            data, end = _DECODER.raw_decode(content)
            if end == len(content):
                return [data], len(line)
    try:
        data = json.loads(line)
        return ([data], len(line)) if isinstance(data, dict) else ([], 0)
    except (ValueError, RecursionError):
        found, end, _ = _elements(content, 0)
        objects = _dicts(found)
        return objects, len(content[:end].encode()) if len(objects) == len(found) else 0


def _elements(content: str, at: int) -> tuple[list[Any], int, bool]:
    """The intact values from `at` on, commas between; where that ends, and whether it ends with a ``]``."""
    found: list[Any] = []
    while True:
        while at < len(content) and content[at] in " \t\r\n,":
            at += 1
        try:
            value, at = _DECODER.raw_decode(content, at)
        except (ValueError, RecursionError):
            return found, at, content[at : at + 1] == "]"
        found.append(value)


def _read_whole(path: Path, raw: bytes, kind: str | None) -> Iterator[Tables]:
    """A file that is one value; where it breaks off, what its list held so far."""
    content = text(raw)
    data, log = loaded(content), _Log(path)
    if kind == "history" and isinstance(data, dict):
        yield from log.lists(number_lists(data))
        facts = [(key, value) for key, value in data.items() if not isinstance(value, dict | list)]
        yield Tables(config=config_table(facts, path.name, prefix=f"{path.stem}."))
    elif kind == "log_history" and isinstance(data, dict):
        yield from _trainer_state(log, data)
    elif kind in {"array", "log_history"}:
        begin = content.find("[", max(content.find('"log_history"'), 0) if kind == "log_history" else 0) + 1
        found, end, whole = (data, len(content), True) if isinstance(data, list) else _elements(content, begin)
        yield from _trainer_state(log, {"log_history": found}) if kind == "log_history" else log.records(_dicts(found))
        if not whole:
            offset = place(raw, content[:end])
            why = f"broken JSON after {len(found)} entries"
            yield Tables(gaps=gap(path, why, offset, len(raw) - offset))
    else:
        yield Tables(gaps=gap(path, "no metrics in this JSON" if data is not None else "broken JSON", 0, len(raw)))
    yield log.rest()


def _trainer_state(log: "_Log", state: Mapping[str, Any]) -> Iterator[Tables]:
    """Hugging Face: the history as points; the run's totals (its last entry) and the state's own fields as config."""
    history = state.get("log_history")
    entries = _dicts(history if isinstance(history, list) else [])
    yield from log.records([entry for entry in entries if "train_runtime" not in entry])
    totals = [item for entry in entries if "train_runtime" in entry for item in entry.items()]
    facts = {key: value for key, value in [*totals, *state.items()] if not isinstance(value, dict | list)}
    yield Tables(config=config_table(facts.items(), log.path.name, prefix="trainer_state."))


def _dicts(items: Sequence[Any]) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)]


def _values(record: Mapping[str, Any] | Sequence[Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Leaf]]:
    """(name, value) of the scalars of a record; media (W&B marks them with `_type`) and long lists are left out."""
    items = record.items() if isinstance(record, Mapping) else enumerate(record)
    for key, value in items:
        name = f"{prefix}{key}"
        if not isinstance(value, dict | list):
            yield name, value
        elif depth < _DEEPEST and "_type" not in value and (isinstance(value, dict) or len(value) <= _LONGEST_LIST):
            yield from _values(value, f"{name}/", depth + 1)


@dataclass
class _Broken:
    """A stretch of bytes without objects, from line `first` to line `last`."""

    offset: int | None
    bytes: int
    first: int
    last: int


@dataclass
class _Log:
    """The rows of one file as they go by."""

    path: Path
    axes: Axes | None = None
    gaps: list[_Broken] = field(default_factory=list)
    more: int = 0
    config: bool = False

    def records(
        self, records: Sequence[dict[str, Any]], wide: Sequence[Wide] = (), places: Ints | None = None, line: int = 0
    ) -> Iterator[Tables]:
        """The points of some objects. A `config` in them (Ray Tune repeats it in every row) is told once.

        `places` (None: no lines) are theirs among the lines of a block that begins with `line`, beside `wide` ones.
        """
        settings = next((r["config"] for r in records if isinstance(r.get("config"), dict)), None)
        if settings and not self.config:
            self.config = True
            yield config_of(settings, self.path)
        rows, wide, lines = _rows(wide, places, line, len(records))
        numbers: _Long = ([], [], [])
        texts: _Long = ([], [], [])
        shown: dict[str, str] = {}
        for row, record in zip(rows, records, strict=True):
            for key, value in record.items():
                if type(value) is float and key != "config":
                    numbers[0].append(row)
                    numbers[1].append(shown[key] if key in shown else shown.setdefault(key, printable(key)))
                    numbers[2].append(value)
                elif key != "config" or not settings:
                    for name, leaf in _values({key: value}):
                        self._sort(row, name, leaf, numbers, texts)
        yield from self._points(_frame(numbers, pl.Float64), _frame(texts, pl.String), lines, wide)

    def lists(self, lists: Mapping[str, Sequence[float | None]]) -> Iterator[Tables]:
        """The points of lists of numbers, a row an index."""
        rows = max(map(len, lists.values()), default=0)
        found = [(i, key, values[i]) for i in range(rows) for key, values in lists.items() if i < len(values)]
        numbers = pl.DataFrame(found, orient="row", schema={"row": pl.Int64, "metric": pl.String, "value": pl.Float64})
        lines = pl.repeat(None, rows, dtype=pl.Int64, eager=True)
        yield from self._points(numbers.drop_nulls("value"), _frame(([], [], []), pl.String), lines)

    def broken(self, line: int, offset: int | None, extent: int) -> None:
        """Note a line that is no object; neighbours make one gap."""
        last = self.gaps[-1] if self.gaps else None
        if last and offset is not None and last.offset is not None and last.offset + last.bytes + 1 == offset:
            last.bytes, last.last = last.bytes + 1 + extent, line
        elif len(self.gaps) < _MOST_GAPS:
            self.gaps.append(_Broken(offset, extent, line, line))
        else:
            self.more += 1

    def rest(self) -> Tables:
        """What was not read, as gaps."""
        whys = [
            gap(
                self.path,
                f"no JSON object in line {b.first}" + (f" to {b.last}" if b.last > b.first else ""),
                b.offset,
                b.bytes,
            )
            for b in self.gaps
        ]
        if self.more:
            whys.append(gap(self.path, f"no JSON object in {self.more} more places"))
        return Tables(gaps=pl.concat(whys)) if whys else Tables()

    @staticmethod
    def _sort(row: int, key: str, value: Leaf, numbers: _Long, texts: _Long) -> None:
        """Put a value to the numbers or, where its column's words say something, to the texts."""
        if isinstance(value, str) and columns.plain(key) in _TEXTS:
            _append(texts, row, key, printable(value))
            return
        found = _as_number(value) if isinstance(value, str) else number(value)
        if found is not None:
            _append(numbers, row, key, found)

    def _points(
        self, long: pl.DataFrame, texts: pl.DataFrame, lines: pl.Series, wide: Sequence[Wide] = ()
    ) -> Iterator[Tables]:
        """Points of numbers (row, metric, value) and of columns, placed by the axes among them; `lines` of the rows."""
        told = [Wide(w.rows, {n: c for n, c in w.columns.items() if _tells(n, c)}) for w in wide]
        wide = [Wide(w.rows, dict(_numeric(w.columns))) for w in wide]
        if not long.height and not any(w.columns for w in wide):
            return
        words = _columns(texts, told, len(lines), {*texts["metric"]}.union(*(w.columns for w in told)))
        present = sorted({*long["metric"].unique()}.union(*(w.columns for w in wide)) - {*words})
        axes = _columns(long, wide, len(lines), columns.known(present, columns.AXES))
        if self.axes is None:
            self.axes = Axes.choose({**axes, **words})
        missing = pl.repeat(None, len(lines), dtype=pl.Float64, eager=True)
        index = self.axes.place({**dict.fromkeys(self.axes.used, missing), **axes, **words}, len(lines))
        index = index.with_columns(lines.alias("line"), session=pl.lit(0, pl.Int32))
        found = [self._wide_points(index, w, words) for w in wide]
        long = columns.renamed(long.filter(~pl.col("metric").is_in(list(self.axes.used))), words)
        parted = index.with_columns(columns.part(words, len(lines)))
        found.append(columns.points(parted, long, self.path.name))
        held = [frame for frame in found if frame.height]
        frame = held[0] if len(held) == 1 else pl.concat(found).sort("line", maintain_order=True)
        for piece in columns.batches(frame):
            yield Tables(points=piece)

    def _wide_points(self, index: pl.DataFrame, wide: Wide, words: Mapping[str, pl.Series]) -> pl.DataFrame:
        assert self.axes is not None
        values = {name: column for name, column in wide.columns.items() if name not in self.axes.used}
        if len(wide.rows) < index.height:
            index, words = index[wide.rows], {name: column.gather(wide.rows) for name, column in words.items()}
        return columns.wide_points(index, values, words, self.path.name)


def _rows(
    wide: Sequence[Wide], places: Ints | None, line: int, records: int
) -> tuple[Sequence[int], Sequence[Wide], pl.Series]:
    """The rows of objects and of `wide` lines, in the order of their lines; the number of each row's line."""
    if places is None:
        return range(records), wide, pl.repeat(None, records, dtype=pl.Int64, eager=True)
    if len(wide) == 1 and not records:
        every = np.arange(len(wide[0].rows))
        return (), [Wide(every, wide[0].columns)], pl.Series(wide[0].rows + line, dtype=pl.Int64)
    found = np.concatenate([*(w.rows for w in wide), places])
    order = np.argsort(found, kind="stable")
    row = np.empty_like(order)
    row[order] = np.arange(len(order))
    *parts, rest = np.split(row, np.cumsum([len(w.rows) for w in wide]))
    placed = [Wide(part, w.columns) for part, w in zip(parts, wide, strict=True)]
    return rest.tolist(), placed, pl.Series(found[order] + line, dtype=pl.Int64)


def _columns(long: pl.DataFrame, wide: Sequence[Wide], rows: int, names: Collection[str]) -> dict[str, pl.Series]:
    """The columns of some names with all rows, of (row, metric, value) and of `wide` lines."""
    if not long.height and len(wide) == 1 and len(wide[0].rows) == rows:
        return {name: wide[0].columns[name] for name in names}
    found = {}
    for name in names:
        column = columns.column_of(long, name, rows)
        for w in wide:
            if name in w.columns:
                column.scatter(w.rows, w.columns[name])  # in place
        found[name] = column
    return found


def _tells(name: str, column: pl.Series) -> bool:
    return column.dtype == pl.String and columns.plain(name) in _TEXTS


def _numeric(wide: Mapping[str, pl.Series]) -> Iterator[tuple[str, pl.Series]]:
    """The columns of numbers, those of texts that are numbers among them."""
    for name, column in wide.items():
        values = column if column.dtype == pl.Float64 or _tells(name, column) else _meant(column)
        if values.dtype == pl.Float64 and values.null_count() < len(values):
            yield name, values


def _meant(texts: pl.Series) -> pl.Series:
    """Texts as the numbers they are, NULL where one is none."""
    likely = texts.filter(texts.str.contains(_LIKELY_NUMBER)).unique()
    meant = [_as_number(text) for text in likely]
    return texts.replace_strict(likely, meant, default=None, return_dtype=pl.Float64)


def _as_number(text: str) -> float | None:
    return number(text) if len(text) <= 40 and _NUMBER.fullmatch(text) else None


def _append(long: _Long, row: int, key: str, value: object) -> None:
    long[0].append(row)
    long[1].append(printable(key))
    long[2].append(value)


def _frame(long: _Long, dtype: type[pl.DataType]) -> pl.DataFrame:
    schema: dict[str, type[pl.DataType]] = {"row": pl.Int64, "metric": pl.String, "value": dtype}
    return pl.DataFrame(list(long), schema=schema)
