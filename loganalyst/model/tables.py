"""The tables: their columns, and how to make an empty or partial one."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import Any

import polars as pl

from loganalyst.model.shortrepr import Short

Time = pl.Datetime("us", "UTC")
UNREAD = "the rest is not read"  # in the `why` of a gap: a reader stopped at its own limit
HEADER_ALONE = "a header, no rows yet"  # in the `why` of a gap: a table of metrics without any so far
OF_NO_FORMAT = "no known log format: only known lines and numbers are read"  # in the `why` of a gap
MAX_SHARED_ROWS = 1 << 17  # of a cached column of one value


def _schema(**columns: pl.DataType | type[pl.DataType]) -> pl.Schema:
    return pl.Schema(columns)


# fmt: off
SCHEMAS: dict[str, pl.Schema] = {
    # one row per logged number, in file order; `line` (from 1) only for line-based sources
    "points": _schema(
        session=pl.Int32, metric=pl.String, step=pl.Int64, epoch=pl.Float64, time=Time, value=pl.Float64,
        source=pl.String, line=pl.Int64,
    ),
    # one row per logged histogram; quantiles at 0, 5, 25, 50, 75, 95 and 100 %
    "distributions": _schema(
        session=pl.Int32, metric=pl.String, step=pl.Int64, time=Time, count=pl.Float64, mean=pl.Float64,
        std=pl.Float64, min=pl.Float64, max=pl.Float64, zeros=pl.Float64, nonfinite=pl.Float64,
        quantiles=pl.List(pl.Float64), source=pl.String,
    ),
    # matched log lines only; `line` from 1, `offset` in bytes; `captures` is a JSON object of text
    "lines": _schema(
        session=pl.Int32, file=pl.String, line=pl.Int64, offset=pl.Int64, time=Time, rank=pl.Int64, node=pl.String,
        pattern=pl.String, label=pl.String, part=pl.String, captures=pl.String, text=pl.String, block=pl.Int64,
    ),
    # tracebacks, stacks and launchers' tables of logs; `block` counts the blocks of a file, `parent` is the block that
    # led to this one; `ranks` are all ranks that printed it, `repeated` how often it was printed
    "blocks": _schema(
        session=pl.Int32, file=pl.String, block=pl.Int64, kind=pl.String, first_line=pl.Int64, last_line=pl.Int64,
        offset=pl.Int64, time=Time, rank=pl.Int64, node=pl.String, exception=pl.String, message=pl.String,
        frame=pl.String, parent=pl.Int64, ranks=pl.List(pl.Int64), repeated=pl.Int64,
    ),
    # dotted keys; `number` if the value is one
    "config": _schema(key=pl.String, value=pl.String, number=pl.Float64, origin=pl.String),
    # one row per job or step; memory in bytes: of the largest task, and the limit of one node; `gpu_use` from 0 to 1
    "jobs": _schema(
        job=pl.String, name=pl.String, state=pl.String, exit_code=pl.Int64, signal=pl.Int64, started=Time, ended=Time,
        elapsed_s=pl.Float64, limit_s=pl.Float64, memory_used=pl.Float64, memory_limit=pl.Float64, nodes=pl.String,
        node_count=pl.Int64, tasks=pl.Int64, cpus=pl.Int64, cpu_s=pl.Float64, gpus=pl.Int64, gpu_use=pl.Float64,
        reason=pl.String, user=pl.String, partition=pl.String, origin=pl.String,
    ),
    "checkpoints": _schema(path=pl.String, step=pl.Int64, size=pl.Int64, time=Time, readable=pl.Boolean),
    # a rank's last collective and point-to-point operations, from its flight recorder; `state` is scheduled, started or
    # completed, `elements` are summed over the tensors, `frame` is the user's own, `record` counts the records
    "collectives": _schema(
        rank=pl.Int64, group=pl.String, sequence=pl.Int64, p2p=pl.Boolean, operation=pl.String, backend=pl.String,
        state=pl.String, input_sizes=pl.String, output_sizes=pl.String, input_elements=pl.Int64,
        output_elements=pl.Int64, dtype=pl.String, created=Time, started=Time, completed=Time, timeout_s=pl.Float64,
        frame=pl.String, record=pl.Int64, file=pl.String,
    ),
    # a group of a rank: all its ranks (NULL: not listed), the last collective of the group that this rank entered, and
    # the latest time at which the rank's dump was written (the time of the file)
    "process_groups": _schema(
        rank=pl.Int64, group=pl.String, description=pl.String, members=pl.List(pl.Int64), enqueued=pl.Int64,
        dumped=Time, file=pl.String,
    ),
    # parts that a reader could not use; `bytes` NULL if the extent is not known
    "gaps": _schema(file=pl.String, offset=pl.Int64, bytes=pl.Int64, why=pl.String),
    # one row per session, numbered in time order; status as in RunStatus
    "sessions": _schema(
        session=pl.Int32, source=pl.String, first_line=pl.Int64, last_line=pl.Int64, started=Time, ended=Time,
        status=pl.String, job=pl.String,
    ),
    # from signals; `index` counts the finite points of the curve, `step` is the logged step
    "findings": _schema(
        session=pl.Int32, metric=pl.String, role=pl.String, kind=pl.String, index=pl.Int64, step=pl.Int64,
        end_step=pl.Int64, effect=pl.Float64, significance=pl.Float64, file=pl.String, line=pl.Int64,
    ),
    # the witness of each feature value
    "feature_sources": _schema(
        feature=pl.String, metric=pl.String, step=pl.Int64, file=pl.String, line=pl.Int64, rank=pl.Int64,
        node=pl.String, role_confidence=pl.Float64,
    ),
}
# fmt: on


def table(name: str, columns: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """A frame in the schema of table `name`: the given columns (sequences, or a scalar for all rows), the others NULL.

    Values are cast strictly; an unknown column raises KeyError, an uncastable value polars' InvalidOperationError.
    """
    schema, columns = SCHEMAS[name], columns or {}
    if unknown := set(columns) - set(schema):
        raise KeyError(f"table {name!r} has no column {sorted(unknown)}; it has {list(schema)}")
    series = {
        k: pl.Series(k, v, strict=False) for k, v in columns.items() if hasattr(v, "__len__") and not isinstance(v, str)
    }
    if not columns or any(not len(v) for v in series.values()):
        return _blank(name).clone()
    rows = max((len(v) for v in series.values()), default=1)
    filled = [
        (series[k] if series[k].dtype == t else series[k].cast(t)) if k in series else constant(columns.get(k), rows, t)
        for k, t in schema.items()
    ]
    return pl.DataFrame([column.rename(k) for k, column in zip(schema, filled, strict=True)])


def constant(value: Hashable, rows: int, dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    """A column of one value.

    Columns of up to MAX_SHARED_ROWS rows share their memory with other columns of that value, because all frames of a
    file name the file.
    """
    if rows > MAX_SHARED_ROWS:
        return _repeated(value, rows, dtype)
    return _shared(value, dtype, (rows - 1).bit_length()).head(rows)


@lru_cache(16)
def _shared(value: Hashable, dtype: pl.DataType | type[pl.DataType], power: int) -> pl.Series:
    return _repeated(value, 1 << power, dtype)


def _repeated(value: object, rows: int, dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    return pl.Series([value], dtype=dtype).new_from_index(0, rows)  # `pl.repeat` would run a query


def _in_one(name: str, frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The concatenation of frames of table `name`, not copied into one chunk."""
    some = [frame for frame in frames if frame.height]  # mostly none or one, which needs no call of polars
    return pl.concat(some) if len(some) > 1 else some[0] if some else table(name)


@cache
def _blank(name: str) -> pl.DataFrame:
    """The table without rows, made once, because every batch of a reader has several."""
    return pl.DataFrame(schema=SCHEMAS[name])


def _empty(name: str) -> Any:
    return field(default_factory=lambda: _blank(name))


@dataclass(frozen=True, repr=False)
class Tables(Short):
    """One batch of a reader; every frame has the schema of its name. `session` counts from 0 per file."""

    points: pl.DataFrame = _empty("points")
    distributions: pl.DataFrame = _empty("distributions")
    lines: pl.DataFrame = _empty("lines")
    blocks: pl.DataFrame = _empty("blocks")
    config: pl.DataFrame = _empty("config")
    jobs: pl.DataFrame = _empty("jobs")
    checkpoints: pl.DataFrame = _empty("checkpoints")
    collectives: pl.DataFrame = _empty("collectives")
    process_groups: pl.DataFrame = _empty("process_groups")
    gaps: pl.DataFrame = _empty("gaps")
    sessions: pl.DataFrame = _empty("sessions")

    @classmethod
    def concat(cls, batches: Iterable["Tables"]) -> "Tables":
        """The concatenation of all batches."""
        every = list(batches)
        return cls(**{f.name: _in_one(f.name, [getattr(batch, f.name) for batch in every]) for f in fields(cls)})
