"""Where a logged row stands: which columns count steps, epochs and time, and what to do where none does.

Names are matched whole, in lower case, with blanks and hyphens as underscores. A column that is used as an axis is
no metric; one that could have been (a second counter, a `time` that holds durations) stays one.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from loganalyst.model import SCHEMAS, Time, constant, table
from loganalyst.sources.files.constantcolumns import Constants

STEPS = (
    *("step", "steps", "global_step", "_step", "trainer/global_step", "iteration", "iter", "iters", "itr"),
    *("iterations", "time/total_timesteps", "total_timesteps", "timesteps_total", "timesteps", "num_timesteps"),
    *("train/global_step", "num_env_steps_sampled", "total_env_steps", "env_steps", "total_steps", "current_steps"),
    *("training_iteration", "num_updates", "n_iter", "update", "updates", "consumed_samples", "samples", "batch"),
    *("misc/total_timesteps", "timestepssofar", "totalenvinteracts", "misc/nupdates", "nupdates"),
    *("batch_idx", "batches", "episode", "episodes", "round", "generation", "frame", "frames", "index"),
)
EPOCHS = ("epoch", "epochs", "train/epoch", "trainer/epoch", "current_epoch", "epoch_num", "num_epoch", "ep")
TIMES = ("_timestamp", "timestamp", "wall_time", "walltime", "datetime", "date", "time", "ts", "created_at")
PARTS = ("mode", "phase", "split", "subset", "stage", "partition")  # "train" and "val" rows of one column
NAMES = ("metric", "tag", "metric_name")  # a long table: the name stands in one column, the number in `value`
ROWS = ("training_iteration", "iterations_since_restore")  # count Ray's rows, beside the steps

AXES = (*STEPS, *EPOCHS, *TIMES, *ROWS)

_FORMATS = (
    *("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"),
    *("%Y-%m-%d %H:%M:%S,%3f", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d_%H-%M-%S", "%Y%m%d_%H%M%S", "%Y-%m-%d %H:%M"),
)
MOSTLY = 0.9  # the share of whole numbers from which on a column counts
FEW = 2  # rows that do not show whether a column rises
BACK = 0.2  # the share of rows that go back from which on a column counts nothing
_POINT = ["session", "line", "step", "epoch", "time"]


def plain(name: str) -> str:
    """A column name as the lists above have it."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def known(names: Iterable[str], among: Collection[str]) -> list[str]:
    """Those of `names` that are `among`, in the order of `among` (its order is the priority)."""
    order = {name: place for place, name in enumerate(among)}
    found = [name for name in names if plain(name) in order]
    return sorted(found, key=lambda name: order[plain(name)])


def times(column: pl.Series) -> pl.Series:
    """A column as UTC times, cell by cell: numbers of 2001 to 2286 as s, ms, µs or ns, or date texts; else NULL.

    A text without a zone is taken as UTC.
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
    """Whether a column tells times: nearly all of it does, for one damaged cell must not cost the others theirs."""
    known = column.count()
    return known > 0 and times(column).count() >= MOSTLY * known


@dataclass
class Axes:
    """The axes of one table, chosen on its first batch, and what must be remembered from batch to batch.

    `step` is the column that counts (an epoch column where there is no other), None where rows are counted; `rows` are
    columns that count those too.
    """

    step: str | None = None
    epoch: str | None = None
    time: str | None = None
    rows: tuple[str, ...] = ()
    row: int = 0  # rows placed so far
    last_step: int | None = None
    last_epoch: float | None = None
    latest: float | None = None  # the furthest epoch, its highest step as logged and the one in the middle
    highest: int = 0
    middle: float = 0
    offsets: dict[float, int] = field(default_factory=dict)  # epoch -> steps before it, where steps count within epochs

    @classmethod
    def choose(cls, columns: Mapping[str, pl.Series]) -> "Axes":
        """Choose by name and content; `columns` are Float64, times may be String.

        A step column with fractions tells epochs.
        """
        numbers = [name for name, column in columns.items() if column.dtype == pl.Float64 and column.count()]
        epoch = next(iter(known(numbers, EPOCHS)), None)
        steps = known(numbers, STEPS)
        rising = [name for name in steps if _rises(columns[name])]
        counting = [n for n in steps if _counts(columns[n], columns.get(epoch or ""))]
        step = next((n for n in counting if n in rising or not (rising and _wanders(columns[n]))), None)
        if step is None and steps and epoch is None and not _whole(columns[steps[0]]):
            epoch = steps[0]
        if step is None and epoch is not None and _whole(columns[epoch]):
            step = epoch
        time = next((n for n in known(columns, TIMES) if _timed(columns[n])), None)
        return cls(step, epoch, time, tuple(name for name in known(numbers, ROWS) if name != step))

    @property
    def used(self) -> set[str]:
        """The columns that are axes and so no metrics."""
        return {name for name in (self.step, self.epoch, self.time, *self.rows) if name is not None}

    def place(self, columns: Mapping[str, pl.Series], rows: int) -> pl.DataFrame:
        """The step (Int64), epoch (Float64) and time of the next `rows` rows.

        A row without a step was written after the one before it and takes its step. Steps that start again with each
        epoch are made to go on.
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
        """`step` without holes, and with the offsets of in-epoch counters."""
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
        """The steps before a stretch of rows of one epoch: more than before where it starts again, near zero (a step
        below it is damaged, and one far above the others moves the highest step but not the one in the middle).
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


def points(index: pl.DataFrame, long: pl.DataFrame, source: str) -> pl.DataFrame:
    """`points` rows in file order.

    `index`: one row a logged row with session, line, step, epoch, time and part (NULL, or text that goes before the
    metric's name). `long`: row (position in `index`), metric, value.
    """
    rows = index[long["row"]] if long.height else index.clear()
    part = rows["part"]
    name = pl.select(
        pl.when(part.is_null()).then(long["metric"]).otherwise(pl.concat_str([part, pl.lit("/"), long["metric"]]))
    ).to_series()
    frame = rows.select(_POINT).with_columns(metric=name, value=long["value"], source=pl.lit(source))
    return frame.select([pl.col(k).cast(t) for k, t in SCHEMAS["points"].items()]) if len(long) else table("points")


def wide_points(
    index: pl.DataFrame,
    values: Mapping[str, pl.Series],
    texts: Mapping[str, pl.Series],
    source: str,
    constants: Constants,
) -> pl.DataFrame:
    """`points` rows, metric after metric, of one Float64 column a metric.

    `index`: session, line, step, epoch, time of each row; `texts`: columns of which some part the rows or name metrics.
    The columns that all metrics share are not copied, and those of one value are the file's `constants`.
    """
    if not values:
        return table("points")
    rows, every = index.height, index.height * len(values)
    told = {kind: texts[name] for kind, among in (("name", NAMES), ("part", PARTS)) for name in known(texts, among)[:1]}
    long = {name: pl.concat([column] * len(values)) for name, column in [*index.to_dict().items(), *told.items()]}
    long |= {n: constants.column(None, every, column.dtype) for n, column in long.items() if not column.count()}
    long["metric"] = pl.concat([constants.column(name, rows, pl.String) for name in values])
    long["value"] = pl.concat(list(values.values()))
    long["source"] = constants.column(source, every, pl.String)
    frame = pl.DataFrame([long[name].alias(name) for name in [*SCHEMAS["points"], *told]])
    if long["value"].null_count():
        frame = frame.drop_nulls("value")
    return frame.with_columns(metric=_named(told)).select(SCHEMAS["points"].names()) if told else frame


def _named(told: Collection[str]) -> pl.Expr:
    """The name of a metric with what the texts `name` and `part` say, where they say something."""
    metric, name, part = pl.col("metric"), pl.col("name"), pl.col("part")
    if "name" in told:
        metric = pl.when((metric.str.to_lowercase() == "value") & name.is_not_null()).then(name).otherwise(metric)
    return pl.when(part.is_null()).then(metric).otherwise(part + "/" + metric) if "part" in told else metric


def batches(frame: pl.DataFrame, size: int = 1_000_000) -> Iterable[pl.DataFrame]:
    """The frame in pieces of at most `size` rows; none for an empty one."""
    return frame.iter_slices(size) if frame.height else ()


def column_of(long: pl.DataFrame, name: str, rows: int) -> pl.Series:
    """One metric of a long frame (row, metric, value) as a column of `rows` values; the first of doubles counts."""
    found = long.filter(pl.col("metric") == name).unique("row", keep="first", maintain_order=True)
    index = pl.DataFrame({"row": pl.int_range(rows, dtype=pl.Int64, eager=True)})
    return index.join(found, on="row", how="left", maintain_order="left")["value"]


def renamed(long: pl.DataFrame, texts: Mapping[str, pl.Series]) -> pl.DataFrame:
    """A long frame whose metric `value` takes the name that a column of texts gives it, where one does (NAMES)."""
    names = next((texts[name] for name in known(texts, NAMES)), None)
    if names is None:
        return long
    own = names.gather(long["row"]).alias("own")
    named = (pl.col("metric").str.to_lowercase() == "value") & own.is_not_null()
    return long.with_columns(metric=pl.when(named).then(own).otherwise("metric"))


def part(texts: Mapping[str, pl.Series], rows: int) -> pl.Series:
    """The column of texts that parts the rows (PARTS: train, val …), NULL where there is none."""
    empty = pl.repeat(None, rows, dtype=pl.String, eager=True)
    return next((texts[name] for name in known(texts, PARTS)), empty).alias("part")


def fractions(column: pl.Series) -> bool:
    """Whether a number of the column is not whole."""
    return bool((column != column.floor()).any())


def _carried(column: pl.Series, last: float | None) -> pl.Series:
    """The column with the value before in place of each NULL, `last` at its start."""
    if not column.null_count():
        return column
    column = column.fill_null(strategy="forward") if column.count() else column
    return column if last is None else column.fill_null(last)


def _finite(column: pl.Series) -> pl.Series:
    return column.filter(column.is_finite().fill_null(False))


def _whole(column: pl.Series) -> bool:
    """Whether a column counts: nearly all of it is whole, for one damaged cell must not change what the others mean."""
    finite = _finite(column)
    return len(finite) > 0 and int((finite == finite.floor()).sum()) >= MOSTLY * len(finite)


def _counts(step: pl.Series, epoch: pl.Series | None) -> bool:
    """Whether a column is a step counter: whole, and not standing still while the epochs go on."""
    still = step.drop_nulls().n_unique() == 1 and epoch is not None and epoch.drop_nulls().n_unique() > 1
    return _whole(step) and not still


def _rises(step: pl.Series) -> bool:
    """Whether each row is a later one."""
    return len(step) > FEW and bool((step.diff().drop_nulls() > 0).all()) and not step.null_count()


def _wanders(step: pl.Series) -> bool:
    """Whether a column is the length of what a row tells of, as the steps of an episode: always the same, or going back
    in many rows.
    """
    change = step.drop_nulls().diff().drop_nulls()
    return bool((change == 0).all() or (change < 0).mean() > BACK)  # type: ignore[operator]  # a share


def _integer(column: pl.Series) -> pl.Series:
    """The counts of a column; what is not whole is not known."""
    whole = column.cast(pl.Int64, strict=False)
    odd = whole.cast(pl.Float64) != column
    return whole.set(odd, None) if odd.any() else whole
