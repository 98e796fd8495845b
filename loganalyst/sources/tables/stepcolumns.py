"""The step, epoch and time of each logged row: which columns hold them, and what to do where none does.

Names are matched whole, in lower case, with blanks and hyphens as underscores. A column that serves as an axis is not
a metric. A second counter, or a `time` that holds durations, remains a metric.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from loganalyst.model import Time, constant
from loganalyst.namewords import word_file
from loganalyst.sources.tables.columnwords import column_words

_COLUMNS = column_words()
STEPS, STEP_ENDS, TIMES = _COLUMNS.steps, _COLUMNS.step_ends, _COLUMNS.times
EPOCHS = (*_COLUMNS.epochs, *word_file().epochs)
PARTS, KINDS = _COLUMNS.parts, _COLUMNS.kinds  # texts of what data a row is
NAMES, NAMES_OF_VALUES = _COLUMNS.names, _COLUMNS.names_of_values  # texts of what a row's value is
COUNTERS = (*STEPS, *EPOCHS)
AXES = (*COUNTERS, *TIMES, *_COLUMNS.rows)

# 2026-03-01T10:00:00.5+01:00, 2026-03-01 10:00:00,123, 2026/03/01 10:00:00, 2026-03-01_10-00-00, 20260301_100000 …
_FORMATS = (
    *("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"),
    *("%Y-%m-%d %H:%M:%S,%3f", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d_%H-%M-%S", "%Y%m%d_%H%M%S", "%Y-%m-%d %H:%M"),
)
MIN_WHOLE_SHARE = 0.9  # of the values of a counter are whole numbers
MAX_ROWS_TOO_FEW = 2  # rows do not show whether a column rises
MAX_BACKWARD_SHARE = 0.2  # of the rows of a counter have a lower value than the row before
MIN_CLIMBING_SHARE = 0.5  # of the rows of a counter in a group have a higher value than the row before


def normalised(name: str) -> str:
    """A column name in the spelling of the lists above."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def matching(names: Iterable[str], among: Collection[str]) -> list[str]:
    """The `names` that occur in `among`, in the order of `among`, which is the priority."""
    order = {name: place for place, name in enumerate(among)}
    found = [name for name in names if normalised(name) in order]
    return sorted(found, key=lambda name: order[normalised(name)])


def _ending(names: Iterable[str], among: Sequence[str]) -> list[str]:
    """The `names` in groups, such as `total/steps`, whose last part occurs in `among`, in the order of `among`."""
    ends = {name: normalised(name).rpartition("/")[2] for name in names if "/" in name}
    return sorted((name for name, end in ends.items() if end in among), key=lambda name: among.index(ends[name]))


def times(column: pl.Series) -> pl.Series:
    """A column as UTC times: date texts, or numbers in s, ms, µs or ns that lie in the years 2001 to 2286; else NULL.

    A text without a time zone counts as UTC.
    """
    if column.dtype != pl.String:
        return _moments(column) if column.dtype == pl.Float64 else constant(None, len(column), Time)
    numbers = column.cast(pl.Float64, strict=False)
    found = _moments(numbers)
    for form in _FORMATS:
        left = column.set(found.is_not_null(), None)
        if not left.count():
            break
        found = found.zip_with(found.is_not_null(), _parsed(left, form))
    return found


def _moments(numbers: pl.Series) -> pl.Series:
    micros = constant(None, len(numbers), pl.Float64)
    for unit in (1e6, 1e3, 1.0, 1e-3):
        scaled = numbers * unit
        fits = ((scaled >= 1e15) & (scaled < 1e16)).fill_null(False)
        if fits.any():
            micros = scaled.zip_with(fits, micros)
            if fits.all():
                break
    return micros.round().cast(pl.Int64).cast(Time)


def _parsed(texts: pl.Series, form: str) -> pl.Series:
    return texts.str.to_datetime(form, strict=False, time_unit="us", time_zone="UTC").cast(Time)


def _timed(column: pl.Series) -> bool:
    """Whether nearly all values of a column are times. A few damaged cells do not matter."""
    present = column.count()
    return present > 0 and times(column).count() >= MIN_WHOLE_SHARE * present


@dataclass
class Axes:
    """The axes of one table, chosen from its first batch, and the state that is carried from batch to batch.

    `step` is the column that counts, possibly an epoch column; None where rows are counted. `rows` are other columns
    that count rows.
    """

    step: str | None = None
    epoch: str | None = None
    time: str | None = None
    rows: tuple[str, ...] = ()
    row: int = 0  # rows placed so far
    last_step: int | None = None
    last_epoch: float | None = None
    latest: float | None = None  # the highest epoch so far
    highest: int = 0  # its highest step as logged
    middle: float = 0  # its median step as logged
    offsets: dict[float, int] = field(default_factory=dict)  # epoch -> steps before it, where each epoch counts from 0

    @classmethod
    def choose(cls, columns: Mapping[str, pl.Series]) -> "Axes":
        """Choose by name and content; `columns` are Float64, times may be String.

        A step column with fractions serves as the epoch.
        """
        numbers = [name for name, column in columns.items() if column.dtype == pl.Float64 and column.count()]
        epoch = next(iter(matching(numbers, EPOCHS)), None)
        steps = matching(numbers, STEPS)
        rising = [name for name in steps if _rises(columns[name])]
        counting = [n for n in steps if _counts(columns[n], columns.get(epoch or ""))]
        step = next((n for n in counting if n in rising or not (rising and _wanders(columns[n]))), None)
        step = step or next(
            (n for n in _ending(numbers, STEP_ENDS) if _climbs(columns[n]) and _whole(columns[n])), None
        )
        if step is None and steps and epoch is None and not _whole(columns[steps[0]]):
            epoch = steps[0]
        if step is None and epoch is not None and _whole(columns[epoch]) and not is_still(columns[epoch]):
            step = epoch
        time = next((n for n in matching(columns, TIMES) if _timed(columns[n])), None)
        return cls(step, epoch, time, tuple(name for name in matching(numbers, _COLUMNS.rows) if name != step))

    @property
    def used(self) -> set[str]:
        """The columns that are axes, and therefore not metrics."""
        return {name for name in (self.step, self.epoch, self.time, *self.rows) if name is not None}

    def place(self, columns: Mapping[str, pl.Series], rows: int) -> pl.DataFrame:
        """The step (Int64), epoch (Float64) and time of the next `rows` rows.

        A row without a step takes the step of the row before it. Steps that restart in each epoch become continuous.
        """
        epoch = columns.get(self.epoch or "", constant(None, rows, pl.Float64))
        time = times(columns[self.time]) if self.time else constant(None, rows, Time)
        if self.step is None:
            step = pl.int_range(self.row, self.row + rows, dtype=pl.Int64, eager=True)
        else:
            step = self._continued(_integer(columns[self.step]), epoch)
        self.row += rows
        return pl.DataFrame([step.alias("step"), epoch.alias("epoch"), time.alias("time")])

    def _continued(self, step: pl.Series, epoch: pl.Series) -> pl.Series:
        """`step` with its missing values filled, and with offsets added where each epoch counts from 0."""
        step = _carried(step, self.last_step)
        step = step.fill_null(strategy="backward") if step.null_count() else step
        epoch = _carried(epoch, self.last_epoch)
        self.last_step, self.last_epoch = step[-1], epoch[-1]
        if self.step == self.epoch or epoch.null_count() == len(epoch) or not _whole(epoch) or step.null_count():
            return step
        frame = pl.DataFrame({"step": step, "epoch": epoch, "group": epoch.rle_id()})
        groups = frame.group_by("group", maintain_order=True).agg(
            pl.first("epoch"),
            pl.first("step").alias("first"),
            pl.max("step").alias("top"),
            pl.median("step").alias("middle"),
        )
        offsets = [self._offset(*row) for row in groups.drop("group").iter_rows()]
        return step + pl.Series(offsets, dtype=pl.Int64).gather(frame["group"])

    def _offset(self, epoch: float | None, first: int, top: int, middle: float) -> int:
        """The steps before a stretch of rows of one epoch.

        A new epoch whose first step is near zero gets the steps of the epoch before it as its offset. Damaged steps do
        not count: neither a negative one, nor one far above the others, which raises the maximum but not the median.
        """
        if epoch is None:
            return 0
        if self.latest is None or epoch > self.latest:
            before = self.offsets.get(self.latest, 0) if self.latest is not None else 0
            restarts = self.latest is not None and 0 <= first <= min(self.highest // 2, self.middle)
            self.offsets[epoch] = before + (self.highest + (first == 0) if restarts else 0)
            self.latest, self.highest, self.middle = epoch, 0, 0
        if epoch == self.latest:
            self.highest, self.middle = max(self.highest, top), max(self.middle, middle)
        return self.offsets.get(epoch, 0)


def fractions(column: pl.Series) -> bool:
    """Whether the column contains a number that is not whole."""
    return bool((column != column.floor()).any())


def _carried(column: pl.Series, last: float | None) -> pl.Series:
    """The column with each NULL replaced by the value before it, at the start by `last`."""
    if not column.null_count():
        return column
    column = column.fill_null(strategy="forward") if column.count() else column
    return column if last is None else column.fill_null(last)


def _finite(column: pl.Series) -> pl.Series:
    return column.filter(column.is_finite().fill_null(False))


def _whole(column: pl.Series) -> bool:
    """Whether nearly all numbers of a column are whole. A few damaged cells do not matter."""
    finite = _finite(column)
    return len(finite) > 0 and int((finite == finite.floor()).sum()) >= MIN_WHOLE_SHARE * len(finite)


def _counts(step: pl.Series, epoch: pl.Series | None) -> bool:
    """Whether a column is a step counter: whole numbers that do not stay constant while the epoch changes."""
    still = step.drop_nulls().n_unique() == 1 and epoch is not None and epoch.drop_nulls().n_unique() > 1
    return _whole(step) and not still


def is_still(counter: pl.Series) -> bool:
    """Whether each row has the first number of a counter: it counts nothing, such as in a loop of one-epoch trainings.

    >>> is_still(pl.Series([0.0, 0.0, 0.0])), is_still(pl.Series([5.0, 5.0, 5.0])), is_still(pl.Series([0.0, 0.0]))
    (True, False, False)
    """
    return len(counter) > MAX_ROWS_TOO_FEW and counter.n_unique() == 1 and counter[0] in (0.0, 1.0)


def _rises(step: pl.Series) -> bool:
    """Whether every row has a higher value than the row before."""
    return len(step) > MAX_ROWS_TOO_FEW and bool((step.diff().drop_nulls() > 0).all()) and not step.null_count()


def _climbs(step: pl.Series) -> bool:
    """Whether no row has a lower value than the row before, and most have a higher one."""
    change = step.drop_nulls().diff().drop_nulls()
    return len(step) > MAX_ROWS_TOO_FEW and bool((change >= 0).all() and (change > 0).mean() > MIN_CLIMBING_SHARE)  # type: ignore[operator]


def _wanders(step: pl.Series) -> bool:
    """Whether a column holds a length, such as the steps of an episode, and not a counter.

    A length is always the same, or decreases in many rows.
    """
    change = step.drop_nulls().diff().drop_nulls()
    return bool((change == 0).all() or (change < 0).mean() > MAX_BACKWARD_SHARE)  # type: ignore[operator]  # a share


def _integer(column: pl.Series) -> pl.Series:
    """The whole numbers of a column; NULL for all other values."""
    whole = column.cast(pl.Int64, strict=False)
    odd = whole.cast(pl.Float64) != column
    return whole.set(odd, None) if odd.any() else whole
