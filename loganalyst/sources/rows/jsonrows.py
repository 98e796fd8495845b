"""Objects with numbers as points: names of nested values, which columns count, and what was not read."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.constants import Constants
from loganalyst.sources.flatten import Leaf, config_of, number, printable
from loganalyst.sources.rows import columns
from loganalyst.sources.rows.columns import Axes
from loganalyst.sources.rows.jsonplain import Ints, Wide
from loganalyst.sources.textblocks import gap

_LONGEST_LIST = 64  # a longer one is a histogram or an image
_DEEPEST = 10
_TEXTS = {*columns.TIMES, *columns.PARTS, *columns.NAMES}  # columns whose texts say something
_NUMBER = re.compile(r"-?(?:\d+\.\d+(?:[eE][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
_LIKELY_NUMBER = r"(?i)^-?(?:\d+\.|nan|inf)"
_SYSTEM = "wandb-events.jsonl"
_MOST_GAPS = 1000
_Long = tuple[list[int], list[str], list[Any]]


def values(
    record: Mapping[str, Any] | Sequence[Any], prefix: str = "", depth: int = 0, left: list[str] | None = None
) -> Iterator[tuple[str, Leaf]]:
    """(name, value) of the scalars of a record; media (W&B marks them with `_type`) and long lists are left out, their
    names put to `left`.
    """
    items = record.items() if isinstance(record, Mapping) else enumerate(record)
    for key, value in items:
        name = f"{prefix}{key}"
        if not isinstance(value, dict | list):
            yield name, value
        elif depth < _DEEPEST and "_type" not in value and (isinstance(value, dict) or len(value) <= _LONGEST_LIST):
            yield from values(value, f"{name}/", depth + 1, left)
        elif left is not None:
            left.append(name)


@dataclass
class _Broken:
    """A stretch of bytes without objects, from line `first` to line `last`."""

    offset: int | None
    bytes: int
    first: int
    last: int


@dataclass
class Log:
    """The rows of one file as they go by."""

    path: Path
    axes: Axes | None = None
    gaps: list[_Broken] = field(default_factory=list)
    more: int = 0
    config: bool = False
    left: int = 0  # values that are no metrics, the first one's name
    first_left: str = ""
    constants: Constants = field(default_factory=Constants)

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
        left: list[str] = []
        for row, record in zip(rows, records, strict=True):
            for key, value in record.items():
                if type(value) is float and key != "config":
                    numbers[0].append(row)
                    numbers[1].append(shown[key] if key in shown else shown.setdefault(key, printable(key)))
                    numbers[2].append(value)
                elif key != "config" or not settings:
                    for name, leaf in values({key: value}, left=left):
                        self._sort(row, name, leaf, numbers, texts)
        if left and not self.left:
            self.first_left = printable(left[0])[:80]
        self.left += len(left)
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

    def state(self) -> dict[str, Any]:
        """What must be remembered to read on, as plain JSON."""
        axes = asdict(self.axes) | {"offsets": [*self.axes.offsets.items()]} if self.axes else None
        rest = {key: getattr(self, key) for key in ("more", "config", "left", "first_left")}
        return {"axes": axes, "gaps": [asdict(b) for b in self.gaps], **rest}

    @classmethod
    def of(cls, path: Path, state: Mapping[str, Any]) -> "Log":
        """The rows of a file that was read before."""
        axes = Axes(**state["axes"] | {"offsets": dict(state["axes"]["offsets"])}) if state["axes"] else None
        return cls(path, **{**state, "axes": axes, "gaps": [_Broken(**gap) for gap in state["gaps"]]})

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
        if self.left:
            what = f"{self.left} values are media, or lists longer than {_LONGEST_LIST}, the first {self.first_left!r}"
            whys.append(gap(self.path, what))
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
        if self.path.name == _SYSTEM:
            frame = _system(frame)
        for piece in columns.batches(frame):
            yield Tables(points=piece)

    def _wide_points(self, index: pl.DataFrame, wide: Wide, words: Mapping[str, pl.Series]) -> pl.DataFrame:
        assert self.axes is not None
        values = {name: column for name, column in wide.columns.items() if name not in self.axes.used}
        if len(wide.rows) < index.height:
            index, words = index[wide.rows], {name: column.gather(wide.rows) for name, column in words.items()}
        return columns.wide_points(index, values, words, self.path.name, self.constants)


def _system(points: pl.DataFrame) -> pl.DataFrame:
    """W&B's measurements of the machine, named as its run files have them; they belong to no step."""
    name = pl.col("metric").str.replace(r"^system\.", "system/")
    kept = points.filter(pl.col("metric") != "_runtime")
    return kept.with_columns(metric=name, step=pl.lit(None, pl.Int64))


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
