"""What the scheduler accounts for in files that belong to no single run: dumps of `sacct` and the like beside logs."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.sources import slurm
from loganalyst.sources.discovery import names
from loganalyst.sources.formats import HEAD

SURE = 0.9  # of the reader, that a file is one


def jobs(paths: Iterable[str | Path]) -> pl.DataFrame:
    """The table `jobs` of all accounting files at or below the paths, by path; hidden folders and links are not looked
    into, and what cannot be read is left out.
    """
    found = [table("jobs")]
    for file in sorted({file for path in paths for file in _files(Path(path))}):
        with suppress(OSError):
            with file.open("rb") as handle:
                head = handle.read(HEAD)
            if slurm.sniff(file, head) >= SURE:
                found += [tables.jobs for tables in slurm.read(file)]
    return pl.concat(found)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for folder, inner, files in os.walk(path):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from (Path(folder, name) for name in files if names.accounts(name) and _regular(folder, name))


def _regular(folder: str, name: str) -> bool:
    """Neither a link nor, for instance, a pipe, which nobody may ever write to."""
    try:
        return stat.S_ISREG(os.lstat(os.path.join(folder, name)).st_mode)
    except OSError:
        return False
