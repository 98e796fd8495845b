"""Every file of a run through the reader that knows it. One bad file never stops the rest."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import polars as pl

import loganalyst.sources
from loganalyst.model import Run, Tables, table
from loganalyst.sources import address, compressed
from loganalyst.sources.assemble import assemble, relative
from loganalyst.sources.discover import discover, no_file
from loganalyst.sources.part import Part

HEAD = 1 << 16
PACKED = {b"PK\x03\x04": "zip", b"\x04\x22\x4d\x18": "lz4", b"7z\xbc\xaf": "7z"}
PLAUSIBLE = 0.3  # below this no reader is asked: the file is not a log


@cache
def formats() -> tuple[ModuleType, ...]:
    """The readers: modules of this folder with NAME, sniff and read."""
    names = (m.name for m in iter_modules(loganalyst.sources.__path__))
    modules = (import_module(f"loganalyst.sources.{name}") for name in names)
    return tuple(m for m in modules if hasattr(m, "sniff") and hasattr(m, "read"))


def reader(path: Path, head: bytes) -> ModuleType | None:
    """The reader surest of the file, or None."""
    score, _, best = max((m.sniff(path, head), m.NAME, m) for m in formats())
    return best if score >= PLAUSIBLE else None


def ingest(path: Path, logs: Sequence[Path] = ()) -> Run:
    """Read the run at `path`, with job `logs` that belong to it. Raises SourceError where nothing could be read."""
    found = discover(path)
    root = path if path.is_dir() else path.parent
    parts = [_part(file, relative(file, root)) for file in dict.fromkeys([*found.files, *logs])]
    return assemble(path, found, parts, [f"{relative(log, root)}: named beside the run" for log in logs])


def _part(named: Path, source: str) -> Part:
    """One file, or one run of a file (FILE#RUN). Whatever is wrong with it is a gap."""
    size = 0
    file, run = address.split(named)
    try:
        if why := no_file(file):
            return _lost(source, why)
        if not (size := file.stat().st_size):
            return _lost(source, "empty file")
        with compressed.unpacked(file, _head(file)) as (inner, lost):
            head = _head(inner)
            module = reader(inner, head)
            if module is None:
                part = _lost(source, _unknown(head), size)
            else:
                tables = module.read(inner, run) if run else module.read(inner)
                part = Part(source, module.NAME, size, Tables.concat(tables))
        return replace(part, tables=replace(part.tables, gaps=pl.concat([part.tables.gaps, lost])))
    except OSError as error:
        return _lost(source, f"cannot be read ({error.strerror})", size)
    except Exception as error:  # a reader's defect on one file must not lose the others
        return _lost(source, f"the reader failed ({type(error).__name__}: {error})", size)


def _head(file: Path) -> bytes:
    with file.open("rb") as handle:
        return handle.read(HEAD)


def _lost(source: str, why: str, size: int = 0) -> Part:
    """A file that gave nothing but this gap."""
    return Part(source, None, size, Tables(gaps=table("gaps", {"file": source, "offset": [0], "why": [why]})))


def accounting(path: Path) -> bool:
    """Whether the file is a scheduler's accounting, which tells of a run's end but is no run."""
    try:
        module = reader(path, _head(path))
    except OSError:
        return False
    return module is not None and module.NAME == "slurm"


def _unknown(head: bytes) -> str:
    if packed := next((name for magic, name in PACKED.items() if head.startswith(magic)), None):
        return f"compressed by {packed}: unpack it first"
    if twice := compressed.compression(head):
        return f"compressed twice, inside by {twice}: unpack it first"
    if head[257:262] == b"ustar":
        return "an archive (tar): unpack it first"
    nul = head.find(b"\0")
    return "no known log format" if nul < 0 else f"binary data of no known log format (a NUL byte at offset {nul})"
