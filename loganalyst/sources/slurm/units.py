"""SLURM's notation of times, durations, amounts and lists of nodes, parsed to numbers."""

import math
import re
from collections.abc import Iterator

import polars as pl

from loganalyst.model import Time

_RANGES = r"\[(?:\d{1,9}(?:-\d{1,9})?(?:,|(?=\])))*\]"  # [1-3,7]
_BYTES = {"": 1.0} | {unit: 1024.0**power for power, unit in enumerate("KMGTPE", 1)}


def time(field: str) -> pl.Expr:
    """`2026-03-01T10:00:00`; a time without a zone counts as UTC."""
    found = pl.col(field).str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False)
    return found.cast(pl.Datetime("us")).dt.replace_time_zone("UTC").cast(Time)


def seconds(field: str) -> pl.Expr:
    """`[days-][hours:]minutes:seconds[.thousandths]`, in seconds."""
    parts = pl.col(field).str.extract_groups(r"^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$")
    days, hours, minutes, secs = (pl.field(str(i)).cast(pl.Float64, strict=False) for i in (1, 2, 3, 4))
    total = days.fill_null(0) * 86400 + hours.fill_null(0) * 3600 + minutes * 60 + secs
    return parts.struct.with_fields(total.alias("total")).struct.field("total")


def size(field: str) -> pl.Expr:
    """`47844K`, `100M` or `4Gn`, in bytes. A bare number is bytes; in a request its unit is unknown."""
    return _size(pl.col(field))


def memory(field: str) -> pl.Expr:
    """The memory in a list of resources, in bytes; NULL for a bare number, whose unit is unknown."""
    return _size(pl.col(field).str.extract(r"(?:^|,)mem=(\d+(?:\.\d+)?[KMGTPE])(?:,|$)"))


def _size(text: pl.Expr) -> pl.Expr:
    parts = text.str.extract_groups(r"^(\d+(?:\.\d+)?)([KMGTPE]?)([nc]?)$")
    unit = pl.field("2").replace_strict(_BYTES, return_dtype=pl.Float64, default=None)
    total = pl.field("1").cast(pl.Float64, strict=False) * unit
    return parts.struct.with_fields(total.alias("total")).struct.field("total")


def positive(value: pl.Expr) -> pl.Expr:
    """The value if it is above 0 and finite. SLURM writes 0 for values that it did not measure."""
    return pl.when((value > 0) & value.is_finite()).then(value)


def number(*fields: str) -> pl.Expr:
    """The first whole number in some fields, if it is above 0."""
    return positive(pl.coalesce(pl.col(field).cast(pl.Int64, strict=False) for field in fields))


def gpus(tres: pl.Expr) -> pl.Expr:
    """GPUs in a list of resources, `gres/gpu=2` or by kind `gres/gpu:a100=2`; 0 if the list has none."""
    listed = pl.coalesce(tres.str.extract(r"\bgres/gpu=(\d+)"), tres.str.extract(r"\bgres/gpu:[^=,]+=(\d+)"))
    return pl.when(tres.is_not_null()).then(listed.cast(pl.Int64, strict=False).fill_null(0))


def gpu_per_cent(field: str) -> pl.Expr:
    """GPU utilisation in a list of used resources: the sum over all GPUs of a task (or of all tasks), in per cent."""
    return pl.col(field).str.extract(r"\bgres/gpuutil=(\d+)").cast(pl.Float64, strict=False)


def count(names: str) -> int | None:
    """The number of nodes in a list such as `n[1-3,7],gpu01`; None if it is malformed."""
    outside = re.sub(_RANGES, "", names)
    if "[" in outside or "]" in outside:
        return None
    return sum(math.prod(_widths(name)) for name in re.findall(r"(?:[^,\[]|\[[^\[\]]*\])+", names)) or None


def _widths(name: str) -> Iterator[int]:
    for brackets in re.findall(r"\[([^\[\]]*)\]", name):
        ranges = [part.partition("-") for part in brackets.split(",") if part]
        yield sum(max(int(last or first) - int(first), 0) + 1 for first, _, last in ranges if first.isdecimal())
