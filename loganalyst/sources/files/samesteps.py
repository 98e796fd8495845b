"""Files that log the same metrics at the same steps with values of their own: each names its metrics after itself.

So do `train.csv` and `val.csv`, the folds of a cross-validation, the logs of a job's ranks. What a logger wrote to its
own file and the job printed as well is one log; so are the parts of a rotated log, and logs that followed one another.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

import polars as pl

from loganalyst.model import OF_FILE
from loganalyst.sources.discovery import rotation
from loganalyst.sources.filetables import Facts, Part
from loganalyst.sources.text.lines import owners

FORMATS = ("csv", "json", "text")  # event files are named after their folders, and others name what they hold
HEAD = 1 << 15  # first rows of a file that are looked at: what is written side by side is so from its beginning
FEWEST = 3  # steps that two files share before they are compared

_AT = ("metric", "session", "era", "step")


def prefixes(parts: Sequence[Part], shift: Sequence[int]) -> list[str]:
    """What goes before the names of each file's metrics: empty, or what tells it from those beside it and OF_FILE.
    `shift` is what is added to each file's session numbers.
    """
    found: dict[str, str] = {}
    for format_ in FORMATS:
        files = [(p, n) for p, n in zip(parts, shift, strict=True) if p.format == format_ and p.facts.points]
        starts = {_log(p): n for p, n in files}
        found |= _names([(log, starts[log]) for log in _apart(files)]) if len(starts) > 1 else {}
    return [f"{name}{OF_FILE}" if (name := found.get(_log(p))) else "" for p in parts]


def _log(part: Part) -> str:
    return rotation.part_of(part.source)[0]


def _apart(files: Sequence[tuple[Part, int]]) -> list[str]:
    """The logs that have other values than another one at most of the steps they share, where these are at least half
    of the steps of one of them: a start that went back a little shares fewer.
    """
    eras = _eras([part.facts for part, _ in files])
    heads = (_head(part, n, era) for (part, n), era in zip(files, eras, strict=True))
    rows = pl.concat(heads).group_by("log", *_AT).agg(pl.col("value").last())
    rows = rows.with_columns(both=pl.len().over(_AT) > 1, others=pl.col("value").n_unique().over(_AT) > 1)
    counted = rows.group_by("metric", "log").agg(pl.col("both").sum(), pl.col("others").sum(), steps=pl.len())
    other = counted.filter(pl.col("both") >= FEWEST, pl.col("others") * 2 > pl.col("both"))
    beside = other.filter(pl.col("both") * 2 >= pl.col("steps"))["metric"].unique()
    return sorted(other.filter(pl.col("metric").is_in(beside.implode()))["log"].unique())


def _head(part: Part, shift: int, era: int) -> pl.DataFrame:
    """The first points of a file; where no steps were logged they are counted."""
    head = pl.concat(_first(part)).head(HEAD)
    counted = pl.int_range(pl.len(), dtype=pl.Int64).over("metric")
    return head.select(
        pl.lit(_log(part)).alias("log"),
        "metric",
        pl.col("session").fill_null(0) + shift,
        pl.lit(era).alias("era"),
        pl.coalesce("step", counted),
        "value",
    )


def _first(part: Part) -> Iterator[pl.DataFrame]:
    rows = 0
    for frame in part.frames("points"):
        yield frame.select("metric", "session", "step", "value")
        rows += frame.height
        if rows >= HEAD:
            return


def _eras(facts: Sequence[Facts]) -> list[int]:
    """A number for each file: the same where the times of files overlap, and where they are not known of all."""
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
    """By log: the rank that wrote it, else its path without the folders that all share and without its ending; where
    that does not tell the logs of one start apart, the path with its ending.
    """
    shared = len(common([PurePosixPath(log).parent.parts for log, _ in logs]))
    whole = {log: PurePosixPath(*PurePosixPath(log).parts[shared:]) for log, _ in logs}
    ranks = {log: owners.of_file(Path(log))[0] for log, _ in logs}
    short = {log: str(path.with_suffix("")) for log, path in whole.items()}
    by_rank = {log: name if ranks[log] is None else f"rank_{ranks[log]}" for log, name in short.items()}
    choices = (by_rank, short, {log: str(path) for log, path in whole.items()})
    return next(names for names in choices if len({(names[log], start) for log, start in logs}) == len(logs))


def common(folders: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The parts of paths that all of these folders begin with."""
    first, last = (min(folders), max(folders)) if folders else ((), ())
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]
