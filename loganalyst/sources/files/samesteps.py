"""Names for metrics that several files log at the same steps with different values: each file prefixes its metrics.

Such files are `train.csv` and `val.csv`, the folds of a cross-validation, and the logs of the ranks of a job. Values
that a logger wrote to its file and the job printed as well are one log. So are the parts of a rotated log, and logs
that followed one another.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

import polars as pl

from loganalyst.model import OF_FILE
from loganalyst.sources.discovery import rotation
from loganalyst.sources.filetables import Facts, Part
from loganalyst.sources.text.lines import owners

# metrics of event files are named after folders; other formats name their content
FORMATS = ("csv", "json", "text", "listcells", "numbercolumns", "numberlists", "numpy")
HEAD_ROWS = 1 << 15  # of a file, that are compared: files written in parallel differ from the beginning
MIN_SHARED_STEPS = 3  # before two files are compared

_AT = ("metric", "session", "era", "step")


def prefixes(parts: Sequence[Part], shift: Sequence[int]) -> list[str]:
    """The prefix of each file's metrics: empty, or a name that distinguishes the file from its siblings, and OF_FILE.
    `shift` is the number that is added to each file's session numbers.
    """
    found: dict[str, str] = {}
    for format_ in FORMATS:
        files = [(p, n) for p, n in zip(parts, shift, strict=True) if p.format == format_ and p.facts.points]
        starts = {_log(p): n for p, n in files}
        found |= _names([(log, starts[log]) for log in _diverging(files)]) if len(starts) > 1 else {}
    return [f"{name}{OF_FILE}" if (name := found.get(_log(p))) else "" for p in parts]


def _log(part: Part) -> str:
    return rotation.part_of(part.source)[0]


def _diverging(files: Sequence[tuple[Part, int]]) -> list[str]:
    """The logs whose values differ from those of another log at most of their shared steps. The shared steps must be at
    least half of the steps of one of the two: a restart that went back a little shares fewer.
    """
    eras = _eras([part.facts for part, _ in files])
    heads = (_head(part, n, era) for (part, n), era in zip(files, eras, strict=True))
    rows = pl.concat(heads).group_by("log", *_AT).agg(pl.col("value").last())
    rows = rows.with_columns(both=pl.len().over(_AT) > 1, others=pl.col("value").n_unique().over(_AT) > 1)
    counted = rows.group_by("metric", "log").agg(pl.col("both").sum(), pl.col("others").sum(), steps=pl.len())
    other = counted.filter(pl.col("both") >= MIN_SHARED_STEPS, pl.col("others") * 2 > pl.col("both"))
    parallel = other.filter(pl.col("both") * 2 >= pl.col("steps"))["metric"].unique()
    return sorted(other.filter(pl.col("metric").is_in(parallel.implode()))["log"].unique())


def _head(part: Part, shift: int, era: int) -> pl.DataFrame:
    """The first points of a file; if it has no steps, points are counted instead."""
    head = pl.concat(_first_frames(part)).head(HEAD_ROWS)
    counted = pl.int_range(pl.len(), dtype=pl.Int64).over("metric")
    return head.select(
        pl.lit(_log(part)).alias("log"),
        "metric",
        pl.col("session").fill_null(0) + shift,
        pl.lit(era).alias("era"),
        pl.coalesce("step", counted),
        "value",
    )


def _first_frames(part: Part) -> Iterator[pl.DataFrame]:
    rows = 0
    for frame in part.frames("points"):
        yield frame.select("metric", "session", "step", "value")
        rows += frame.height
        if rows >= HEAD_ROWS:
            return


def _eras(facts: Sequence[Facts]) -> list[int]:
    """A number for each file. Files whose times overlap have the same number; so have all if any times are unknown."""
    spans = [(f.first, f.last) for f in facts if f.first and f.last]
    if len(spans) < len(facts):
        return [0] * len(facts)
    eras: dict[tuple[datetime, datetime], int] = {}
    era, end = 0, min(spans)[1]
    for first, last in sorted(spans):
        era += first > end
        end = max(end, last)
        eras[first, last] = era
    return [eras[span] for span in spans]


def _names(logs: Sequence[tuple[str, int]]) -> dict[str, str]:
    """A name for each log: the rank that wrote it, else its path without shared folders and suffix. If these do not
    distinguish the logs of one start, the path with its suffix.
    """
    shared = len(common([PurePosixPath(log).parent.parts for log, _ in logs]))
    whole = {log: PurePosixPath(*PurePosixPath(log).parts[shared:]) for log, _ in logs}
    ranks = {log: owners.of_file(Path(log))[0] for log, _ in logs}
    short = {log: str(path.with_suffix("")) for log, path in whole.items()}
    by_rank = {log: name if ranks[log] is None else f"rank_{ranks[log]}" for log, name in short.items()}
    choices = (by_rank, short, {log: str(path) for log, path in whole.items()})
    return next(names for names in choices if len({(names[log], start) for log, start in logs}) == len(logs))


def common(folders: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The leading path components that all of these folders share."""
    first, last = (min(folders), max(folders)) if folders else ((), ())
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]
