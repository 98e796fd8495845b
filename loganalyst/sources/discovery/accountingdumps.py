"""The scheduler's accounting of many jobs: dumps of `sacct` and the like that lie next to logs of many runs."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.opening import opened
from loganalyst.sources.discovery import filenames
from loganalyst.sources.formats import HEAD
from loganalyst.sources.slurm import reader

MIN_CONFIDENCE = 0.9  # of the reader, that the file is an accounting file


def jobs(paths: Iterable[str | Path]) -> pl.DataFrame:
    """The table `jobs` of all accounting files at or below the paths, in the order of the paths. Hidden folders and
    links are not entered, and files that cannot be read are left out.
    """
    found = [table("jobs")]
    for file in sorted({file for path in paths for file in _files(Path(path))}):
        with suppress(OSError):
            with opened(file) as handle:
                head = handle.read(HEAD)
            if reader.sniff(file, head) >= MIN_CONFIDENCE:
                found += [tables.jobs for tables in reader.read(file)]
    return pl.concat(found)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    folders = [str(path)]
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders += [] if entry.name.startswith(".") else [entry.path]
                elif filenames.is_accounting(entry.name) and entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)  # not a pipe: reading one could wait for ever
