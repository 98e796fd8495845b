"""The files of a folder that hold the course of a training, by their content: where no name says that there is a run.

A file is one if its reader is sure of it. Else it must be named after a metric and nothing else (`rewards`). Or it, or
a column, has the name of a measure, and the values move as a course does: those of samples follow no order.
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from loganalyst import filemeasure, opening
from loganalyst.sources import formats
from loganalyst.sources.discovery import metricfiles, samerecord
from loganalyst.sources.discovery.folder import encodable, is_walked
from loganalyst.sources.discovery.walk import MIN_CONFIDENCE
from loganalyst.thresholds import reading_limit

MAX_BATCHES = 3  # of a file that are read to see whether it holds a course


class Courses(NamedTuple):
    """The files of one run, and, where they are of several, all of those (`others`)."""

    files: tuple[Path, ...] = ()
    others: tuple[Path, ...] = ()


def courses(folder: Path) -> Courses:
    """The files with the course of one training, if the folder has few files."""
    files = few_files(folder)
    if len(files) > reading_limit("few_files"):
        return Courses()
    with opening.within(opening.bounds([folder])):
        again = samerecord.repeated([*map(str, files)])
        files = [file for file in files if str(file) not in again]
        sure = [file for file in files if _confidence(file) >= MIN_CONFIDENCE]
        found = sure or [file for file in files if _confidence(file) >= formats.PLAUSIBLE and _is_course(file)]
    return Courses(tuple(found)) if len(found) == 1 or _are_of_one_run(found) else Courses(others=tuple(found))


def few_files(folder: Path) -> list[Path]:
    """The files in a folder and in its few folders, at most one more than are searched."""
    files, folders = list[Path](), [folder]
    for place in folders:
        entries = [entry for entry in _entries(place) if encodable(entry.name)]
        files += [entry for entry in entries if entry.is_file()]
        inner = [entry for entry in entries if is_walked(entry.name, place.name) and not entry.is_symlink()]
        folders += [entry for entry in inner if entry.is_dir()][: int(reading_limit("few_files")) - len(folders)]
        if len(files) > reading_limit("few_files"):
            break
    return files


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _confidence(file: Path) -> float:
    """How surely the file is a table; 0 if it is of another kind."""
    score, reader = formats.reader_of(file)
    return score if reader is not None and ".sources.tables." in reader.__name__ else 0.0


def _are_of_one_run(files: Sequence[Path]) -> bool:
    """Whether the files lie together, and each is named after a metric of the same experiment."""
    together = len({file.parent for file in files}) == 1
    names = sorted(map(str, files))
    return together and metricfiles.of_one_run(names, files[0].parent.name) == names


def _is_course(file: Path) -> bool:
    """Whether numbers of the file are, by a name, what a training measures, and their order means something."""
    by_file, measured = filemeasure.is_metric(file.stem), filemeasure.says_measure(file.stem)
    for (name,), rows in _first_points(file).group_by("metric"):
        if rows.height < reading_limit("course_points"):
            continue
        if by_file or ((measured or filemeasure.says_measure(str(name))) and _is_even(rows["value"])):
            return True
    return False


def _first_points(file: Path) -> pl.DataFrame:
    batches = islice(formats.points_of(file), MAX_BATCHES)
    found = [points.select("metric", "value") for points in batches if points.height]
    return pl.concat(found) if found else pl.DataFrame(schema={"metric": pl.String, "value": pl.Float64})


def _is_even(column: pl.Series) -> bool:
    """Whether each value is near the one before it, compared with the spread of all.

    >>> _is_even(pl.Series([5.0, 4.0, 3.5, 3.0, 2.8])), _is_even(pl.Series([5.0, 1.0, 4.0, 0.0, 5.0]))
    (True, False)
    """
    values = column.to_numpy()
    values = values[np.isfinite(values)]
    spread = float(np.var(values)) if values.size >= reading_limit("course_points") else 0.0
    return spread > 0 and float(np.mean(np.diff(values) ** 2)) < reading_limit("course_unevenness") * 2 * spread
