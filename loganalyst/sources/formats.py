"""The readers, and the choice of the reader for a file."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import NamedTuple

import polars as pl

import loganalyst.sources
from loganalyst.opening import opened

HEAD = 1 << 16  # bytes at the beginning of a file that a reader sees to recognise it
PLAUSIBLE = 0.3  # below this confidence no reader is asked: the file is not a log


@cache
def formats() -> tuple[ModuleType, ...]:
    """The readers: modules `reader` or `*_reader` in the folders next to this file, with NAME, sniff and read."""
    rooms = (f"loganalyst.sources.{m.name}" for m in iter_modules(loganalyst.sources.__path__) if m.ispkg)
    names = (f"{room}.{m.name}" for room in rooms for m in iter_modules(import_module(room).__path__))
    return tuple(import_module(name) for name in names if name.endswith("reader"))


def likeliest(path: Path, head: bytes) -> tuple[float, ModuleType]:
    """The reader with the highest confidence (0..1) for a file that begins with `head`, after that confidence."""
    score, _, best = max((m.sniff(path, head), m.NAME, m) for m in formats())
    return score, best


def reader(path: Path, head: bytes) -> ModuleType | None:
    """The reader with the highest confidence for the file; None if no reader knows it."""
    score, best = likeliest(path, head)
    return best if score >= PLAUSIBLE else None


def reader_of(file: Path) -> tuple[float, ModuleType | None]:
    """As `likeliest`, for a file; 0 and None for one that is empty or cannot be read."""
    try:
        with opened(file) as handle:
            head = handle.read(HEAD)
    except OSError:
        return 0.0, None
    return likeliest(file, head) if head else (0.0, None)


def points_of(file: Path) -> Iterator[pl.DataFrame]:
    """The points of a file, batch by batch; those before the fault where it cannot be read to its end."""
    score, module = reader_of(file)
    try:
        for tables in module.read(file) if module and score >= PLAUSIBLE else ():
            yield tables.points
    except OSError:
        return


class Several(NamedTuple):
    """The addresses (FILE#RUN) of the runs in a file, and `why` there may be further runs that cannot be read."""

    runs: tuple[str, ...] = ()
    why: str = ""


def runs_in(file: Path, seconds: float | None = None) -> Several:
    """The runs in a file whose format can hold several, found within `seconds`; none for any other file."""
    try:
        if not file.is_file():  # opening a pipe would wait for its writer
            return Several()
        with opened(file) as handle:
            head = handle.read(HEAD)
    except OSError as error:
        return Several(why=f"cannot be read ({error.strerror})")
    limit = {} if seconds is None else {"seconds": seconds}
    several = [(m.sniff(file, head), m.named(file), m) for m in formats() if hasattr(m, "runs")]
    score, named, module = max(several, key=lambda found: found[:2])
    if score < PLAUSIBLE and not named:
        return Several()
    found, why = module.runs(file, **limit)
    return Several(tuple(f"{file}#{run}" for run in found), why)
