"""Histories that a program prints as whole lists: `{'loss': [2.3, 1.1, …], 'val_loss': [2.4, …]}` when it ends, or
`accs: [0.2, 0.3]`, longer by one value each time.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.namewords import word_file
from loganalyst.sources.text.lines.numberwords import CONFIGURED, SPLIT, STRONG, plain_name
from loganalyst.sources.text.metrics.lastlines import last_lines
from loganalyst.sources.text.metrics.numbertext import NUMBER, as_number
from loganalyst.thresholds import reading_limit

TAIL_BYTES = 1 << 20  # bytes of the end of the file that are searched
MAX_VALUES = 100_000
MAX_LISTS = 64
# `[2.3, 1.1, 0.9,`: what every such file has
_HAS_LIST = re.compile(rb"\[\s?(?:[a-z0-9.]{1,12}\()?-?\d{1,9}\.\d{1,20}(?:e-?\d{1,3})?\)?,\s[^\]\n]{0,40}\d\.\d")
_WRAPPED = (
    r"\b(?:np\.float(?:32|64)|tensor|array|Array)\(([^()\[\],]{1,40})(?:, ?[a-z_]+=[^(),\[\]]*)*\)"  # `tensor(0.5)`
)
# `'val_loss': [0.5, 0.4`, `train losses = [0.5, 0.4`
_NAMED = rf"(?:^|[\s{{,'\"])([^\W\d][\w /.\-@]{{0,39}})['\"]?\s?(?::|=|=>|->)\s*\[\s*({NUMBER}(?:,\s?{NUMBER})*)\s*\]"


def found(path: Path, session: int, first_line: int, last_line: int, read: Mapping[str, int]) -> pl.DataFrame:
    """The points of such lists in the last session, which begins at `first_line`; the file ends at `last_line`. Steps
    count the values from 1. A list as long as a metric of like name (`read`: the number of points of each) is the same
    history again, and left out.
    """
    lists = _lists(path, last_line).filter(pl.col("line") >= first_line)
    whole = _growing(lists) if lists.height else lists
    again = [_is_read(name, len(values), read) for name, values in whole.select("name", "value").iter_rows()]
    rows = whole.filter(~pl.Series(again, dtype=pl.Boolean)).with_columns(
        step=pl.int_ranges(1, pl.col("value").list.len() + 1, dtype=pl.Int64)
    )
    points = rows.explode("value", "step").select("step", "value", "line", metric="name", session=session)
    return table("points", points.to_dict())


def _lists(path: Path, last_line: int) -> pl.DataFrame:
    """line, name and values of each named list of results, at the end of the file."""
    rows = last_lines(path, last_line, TAIL_BYTES, _HAS_LIST)
    if rows.is_empty():
        return pl.DataFrame(schema={"line": pl.Int64, "name": pl.String, "value": pl.List(pl.Float64)})
    rows = rows.filter(pl.col("text").str.contains(_NAMED))
    plain = pl.col("text").str.replace_all(_WRAPPED, "$1")
    named = rows.select("line", plain.str.extract_all(_NAMED).alias("text")).explode("text").drop_nulls()
    parts = named.select("line", pl.col("text").str.extract_groups(_NAMED)).unnest("text")
    numbers = pl.col("2").str.extract_all(NUMBER).list.eval(as_number(pl.element()))
    lists = parts.select("line", name=pl.col("1").str.strip_chars(), value=numbers)
    return lists.filter(pl.col("name").map_elements(_is_result, pl.Boolean), pl.col("value").list.len() <= MAX_VALUES)


def _is_read(name: str, size: int, read: Mapping[str, int]) -> bool:
    return any(count == size and not _words(name).isdisjoint(_words(metric)) for metric, count in read.items())


def _words(name: str) -> set[str]:
    """The words of a name; of `train_losses` train and loss."""
    return {re.sub(r"(?<=s)es$|(?<=[^s])s$", "", word) for word in re.findall(r"[^\W_]+", name.lower())}


def _is_result(name: str) -> bool:
    plain = plain_name(name)
    known = STRONG.search(plain) or SPLIT.fullmatch(plain) or re.search(r"\bacc", plain)
    return bool(known) and not CONFIGURED.search(plain)


def _growing(lists: pl.DataFrame) -> pl.DataFrame:
    """The last list of each name that is printed once, or that begins each time as the time before and is longer.

    Lists printed once may be values by class: one of those that are as long must be a loss or a reward.
    """
    size, first = pl.col("value").list.len(), pl.col("value").list.first()
    grows = (size.diff() > 0).fill_null(value=True).all() & (first == first.first()).all()
    by_name = lists.group_by("name", maintain_order=True).agg(
        pl.col("line").last(), pl.col("value").last(), times=pl.len(), grows=grows
    )
    long = by_name.filter("grows", size >= int(reading_limit("history_values"))).head(MAX_LISTS)
    over_time = pl.col("name").str.to_lowercase().str.contains("|".join(word_file().over_time))
    lengths = long.filter(over_time | (pl.col("times") > 2)).select(size).to_series().unique()
    return long.filter(size.is_in(lengths.implode()) | (pl.col("times") > 2)).select("line", "name", "value")
