"""JSON objects as rows of `points`: names of nested values, axes, and the gaps of a file."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from loganalyst import filemeasure
from loganalyst.model import Tables, constant, table
from loganalyst.model.tabletext import printable
from loganalyst.sources.files.constantcolumns import Constants
from loganalyst.sources.files.flatten import Leaf, config_of
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.tables import namedpoints, stepcolumns
from loganalyst.sources.tables.jsonlines import Ints, Wide
from loganalyst.sources.tables.jsonvalues import MAX_LIST, is_text_column, number_in, values
from loganalyst.sources.tables.stepcolumns import Axes

_SYSTEM = "wandb-events.jsonl"
_MAX_GAPS_LISTED = 1000
_Long = tuple[list[int], list[str], list[Any]]


@dataclass
class _Broken:
    """A stretch of bytes without objects, from line `first` to line `last`. `cut`: it is an object without its end, at
    the end of the file.
    """

    offset: int | None
    bytes: int
    first: int
    last: int
    cut: bool = False

    @property
    def why(self) -> str:
        """Why there are no objects."""
        if self.cut and self.first == self.last:
            return f"the file ends inside a record in line {self.last}"
        return f"not a JSON object in line {self.first}" + (f" to {self.last}" if self.last > self.first else "")


class Log(msgspec.Struct):
    """The rows of one file, and the state carried from block to block."""

    path: Path
    axes: Axes | None = None
    gaps: list[_Broken] = msgspec.field(default_factory=list)
    more: int = 0  # gaps that are not listed in `gaps`
    config: bool = False  # whether settings were found
    left: int = 0  # values that are not metrics
    first_left: str = ""  # the name of the first
    constants: Constants = msgspec.field(default_factory=Constants)

    def records(
        self,
        records: Sequence[dict[str, Any]],
        wide: Wide | None = None,
        places: Ints | None = None,
        line: int = 0,
    ) -> Iterator[Tables]:
        """The points of some objects. A `config` in them is yielded once; Ray Tune repeats it in every row.

        `places`: the positions of the objects among the lines of a block that begins at `line` (None: not lines).
        `wide`: the lines of the same block that were decoded in bulk.
        """
        settings = _settings(records, wide, places)
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
        """The points of lists of numbers, one row per index."""
        rows = max(map(len, lists.values()), default=0)
        found = [(i, key, value) for key, values in lists.items() for i, value in enumerate(values)]
        found.sort(key=itemgetter(0))  # not a loop over rows and lists: one list may be long and the others many
        numbers = pl.DataFrame(found, orient="row", schema={"row": pl.Int64, "metric": pl.String, "value": pl.Float64})
        lines = pl.repeat(None, rows, dtype=pl.Int64, eager=True)
        yield from self._points(numbers.drop_nulls("value"), _frame(([], [], []), pl.String), lines)

    def broken(self, line: int, offset: int | None, extent: int, *, cut: bool = False) -> None:
        """Note a line that is not an object, or only the beginning of one (`cut`). Adjacent lines make one gap."""
        last = self.gaps[-1] if self.gaps else None
        if last:
            last.cut = False  # the file goes on behind it
        adjacent = last and offset is not None and last.offset is not None and last.offset + last.bytes + 1 == offset
        if last and adjacent and not cut:
            last.bytes, last.last = last.bytes + 1 + extent, line
        elif len(self.gaps) < _MAX_GAPS_LISTED:
            self.gaps.append(_Broken(offset, extent, line, line, cut))
        else:
            self.more += 1

    def state(self) -> dict[str, Any]:
        """The state needed to continue reading, as plain JSON."""
        axes = asdict(self.axes) | {"offsets": [*self.axes.offsets.items()]} if self.axes else None
        counts = {key: getattr(self, key) for key in ("more", "config", "left", "first_left")}
        return {"axes": axes, "gaps": [asdict(b) for b in self.gaps], **counts}

    @classmethod
    def restored(cls, path: Path, state: Mapping[str, Any]) -> "Log":
        """A log that continues from `state`."""
        axes = Axes(**state["axes"] | {"offsets": dict(state["axes"]["offsets"])}) if state["axes"] else None
        return cls(path, **{**state, "axes": axes, "gaps": [_Broken(**gap) for gap in state["gaps"]]})

    def gap_rows(self) -> Tables:
        """The gaps of the whole file."""
        whys = [gap(self.path, b.why, b.offset, b.bytes) for b in self.gaps]
        if self.more:
            whys.append(gap(self.path, f"not a JSON object in {self.more} more places"))
        if self.left:
            what = f"{self.left} values are media, or lists longer than {MAX_LIST}, the first {self.first_left!r}"
            whys.append(gap(self.path, what))
        return Tables(gaps=pl.concat(whys)) if whys else Tables()

    @staticmethod
    def _sort(row: int, key: str, value: Leaf, numbers: _Long, texts: _Long) -> None:
        """Add a value to the numbers or, for a column whose texts are used, to the texts."""
        if isinstance(value, str) and is_text_column(key):
            _append(texts, row, key, printable(value))
        elif (found := number_in(value)) is not None:
            _append(numbers, row, key, found)

    def _points(
        self, long: pl.DataFrame, texts: pl.DataFrame, lines: pl.Series, wide: Wide | None = None
    ) -> Iterator[Tables]:
        """The points of `long` (row, metric, value) and of the `wide` columns; `lines` gives the line of each row."""
        wide = wide or Wide(np.arange(0), {})
        wide_texts = {name: column for name, column in wide.columns.items() if column.dtype == pl.String}
        numbers = {name: column for name, column in wide.columns.items() if name not in wide_texts}
        if not long.height and not numbers:
            return
        long, numbers = self._measured(long, numbers)
        words = _columns(texts, wide.rows, wide_texts, len(lines), {*texts["metric"], *wide_texts})
        named = {*long["metric"].unique(), *numbers}
        mixed = stepcolumns.matching(named & {*words}, stepcolumns.TIMES)  # numbers, except for damaged values
        present = [*mixed, *stepcolumns.matching(sorted(named - {*words}), stepcolumns.AXES)]
        axes = _columns(long, wide.rows, numbers, len(lines), present)
        words |= {name: words[name].fill_null(axes.pop(name).cast(pl.String)) for name in mixed}
        if self.axes is None:
            self.axes = Axes.choose({**axes, **words})
        missing = constant(None, len(lines), pl.Float64)
        index = self.axes.place({**dict.fromkeys(self.axes.used, missing), **axes, **words}, len(lines))
        session = self.constants.column(0, len(lines), pl.Int32)
        index = index.hstack([lines.alias("line"), session.alias("session")])
        metrics = {name: column for name, column in numbers.items() if name not in self.axes.used}
        frame = _in_order(self._wide_points(index, wide.rows, metrics, words), self._long_points(index, long, words))
        if self.path.name == _SYSTEM:
            frame = _system(frame)
        for piece in namedpoints.batches(frame):
            yield Tables(points=piece)

    def _measured(self, long: pl.DataFrame, wide: dict[str, pl.Series]) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
        """The same metrics, where those named only after data have the measure in the file's name, too."""
        if not filemeasure.measure(self.path):
            return long, wide
        names = list({*long["metric"].unique(), *wide})
        full = dict(zip(names, filemeasure.named(names, self.path), strict=True))
        named = long.with_columns(pl.col("metric").replace(full)) if names != [*full.values()] else long
        return named, {full[name]: column for name, column in wide.items()}

    def _wide_points(
        self, index: pl.DataFrame, rows: Ints, metrics: Mapping[str, pl.Series], words: Mapping[str, pl.Series]
    ) -> pl.DataFrame:
        if len(rows) < index.height:
            index, words = index[rows], {name: column.gather(rows) for name, column in words.items()}
        return namedpoints.wide_points(index, metrics, words, self.path.name, self.constants)

    def _long_points(self, index: pl.DataFrame, long: pl.DataFrame, words: Mapping[str, pl.Series]) -> pl.DataFrame:
        assert self.axes is not None
        if not long.height:
            return table("points")
        long = long.filter(~pl.col("metric").is_in(list(self.axes.used)))
        return namedpoints.points(index, long, words, self.path.name)


def _in_order(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Both frames of points together; the points of each metric are in the order of their lines."""
    if not one.height or not other.height:
        return one if one.height else other
    both = {*one["metric"].unique()} & {*other["metric"].unique()}
    frame = pl.concat([one, other])
    if not both:
        return frame
    shared = pl.col("metric").is_in(list(both))
    return pl.concat([frame.filter(~shared), frame.filter(shared).sort("line", maintain_order=True)])


def _system(points: pl.DataFrame) -> pl.DataFrame:
    """W&B's system metrics under the names that its run files use, and without steps."""
    name = pl.col("metric").str.replace(r"^system\.", "system/")
    kept = points.filter(pl.col("metric") != "_runtime")
    return kept.with_columns(metric=name, step=pl.lit(None, pl.Int64))


def _settings(records: Sequence[dict[str, Any]], wide: Wide | None, places: Ints | None) -> Mapping[str, Any] | None:
    """The first `config` in the lines that is not empty."""
    settings = ((i, record.get("config")) for i, record in enumerate(records))
    first = next(((i, found) for i, found in settings if found and isinstance(found, dict)), None)
    if wide is None or wide.settings is None:
        return first and first[1]
    early = first is not None and places is not None and places[first[0]] < wide.settings[0]
    return first[1] if first and early else wide.settings[1]


def _rows(
    wide: Wide | None, places: Ints | None, line: int, records: int
) -> tuple[Sequence[int], Wide | None, pl.Series]:
    """The row of each object, the `wide` lines with their rows, and the line of each row; rows follow the lines."""
    if places is None:
        return range(records), wide, constant(None, records, pl.Int64)
    if wide is None or not records:
        found = places if wide is None else wide.rows
        placed = wide and Wide(np.arange(len(found)), wide.columns)
        return range(records), placed, pl.Series(found + line, dtype=pl.Int64)
    found = np.concatenate([wide.rows, places])
    order = np.argsort(found, kind="stable")
    row = np.empty_like(order)
    row[order] = np.arange(len(order))
    wide_rows, object_rows = np.split(row, [len(wide.rows)])
    return object_rows.tolist(), Wide(wide_rows, wide.columns), pl.Series(found[order] + line, dtype=pl.Int64)


def _columns(
    long: pl.DataFrame, rows: Ints, wide: Mapping[str, pl.Series], height: int, names: Collection[str]
) -> dict[str, pl.Series]:
    """The named columns with all rows, from (row, metric, value) and from the `wide` columns, which cover `rows`."""
    if not long.height and len(rows) == height:
        return {name: wide[name] for name in names}
    found = {}
    for name in names:
        found[name] = namedpoints.column_of(long, name, height)
        if name in wide:
            found[name].scatter(rows, wide[name])  # in place
    return found


def _append(long: _Long, row: int, key: str, value: object) -> None:
    long[0].append(row)
    long[1].append(printable(key))
    long[2].append(value)


def _frame(long: _Long, dtype: type[pl.DataType]) -> pl.DataFrame:
    schema: dict[str, type[pl.DataType]] = {"row": pl.Int64, "metric": pl.String, "value": dtype}
    return pl.DataFrame(list(long), schema=schema)
