"""The readers to try: their seeds, what they promise, and how a reading goes."""

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.files import compressed
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.formats import HEAD, formats, reader
from loganalyst.sources.text.sizes import Sizes
from tests.bench.fuzz.packed import Packed
from tests.bench.fuzz.promises import Blocks, Events, Lines, Promise, nothing_more
from tests.bench.fuzz.seeds import WRITERS, Seed

# sizes of blocks that small files cross too: options of the readers
SMALL: dict[str, Mapping[str, Any]] = {
    "tensorboard": {"chunk": 2000},
    "wandb": {"window": 1 << 15},
    "json": {"block": 2000, "min_lines": 4, "chunk_lines": 8},
    "mlflow": {"block": 700},
    "parquet": {"window": 50},
    "text": {"sizes": Sizes(batch=1500)},
}


@dataclass
class Target:
    """One format. `folder` is where mutants are written."""

    name: str
    folder: Path
    seeds: list[Seed]
    small: Mapping[str, Any]
    module: ModuleType | None = None
    promise: Promise = nothing_more
    unpacked: bytes | None = field(default=None, init=False)
    options: Mapping[str, Any] = field(default_factory=dict, init=False)  # of the readings now

    def path(self, seed: Seed) -> Path:
        """Where a seed's mutants are read."""
        path = self.folder / seed.path
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def read(self, path: Path) -> Tables:
        """All tables of a file."""
        if self.module is None:
            return self._read_packed(path)
        if hasattr(self.module, "runs"):
            self.module.runs(path)
        self.module.sniff(path, path.read_bytes()[:HEAD])
        return Tables.concat(self.module.read(path, **self.options))

    def _read_packed(self, path: Path) -> Tables:
        with path.open("rb") as file:
            head = file.read(HEAD)
        with compressed.unpacked(path, head) as (inner, gaps):
            self.unpacked = inner.read_bytes() if inner != path else None
            module = reader(inner, (self.unpacked or b"")[:HEAD])
            if module and inner != path:
                Tables.concat(module.read(inner))
        return Tables(gaps=gaps)

    def read_on(self, path: Path, data: bytes, cut: int) -> Tables | None:
        """All tables of a file read up to `cut` and then on; None where that cannot be."""
        path.write_bytes(data[:cut])
        first, mark = taken(self.module.resume(path, None, **self.options))
        path.write_bytes(data)
        if mark is None:
            return None
        mark = Mark(mark.offset, dict(mark.kept), json.loads(json.dumps(mark.state)))
        try:
            rest, _ = taken(self.module.resume(path, mark, **self.options))
        except StartAgainError:
            return None
        return joined(first, mark, rest)

    @contextmanager
    def sizes(self, small: bool) -> Iterator[None]:
        """Blocks small enough that the seeds have several."""
        self.options = self.small if small else {}
        yield
        self.options = {}


def taken(reading: Generator[Tables, None, Mark | None]) -> tuple[Tables, Mark | None]:
    """All that a reading gives, and the mark it ends with."""
    batches: list[Tables] = []
    while True:
        try:
            batches.append(next(reading))
        except StopIteration as done:
            return Tables.concat(batches), done.value


def joined(first: Tables, mark: Mark, rest: Tables) -> Tables:
    """The rows that the mark keeps, then those of the second reading; sessions are told whole each time."""
    frames = {}
    for name in comparable(rest):
        kept = getattr(first, name).head(mark.kept.get(name, 0))
        frames[name] = rest.sessions if name == "sessions" else pl.concat([kept, getattr(rest, name)])
    return Tables(**frames)


def comparable(tables: Tables) -> dict[str, Any]:
    """What must be the same of two readings: points in order within a metric, gaps by offset."""
    frames = {name: getattr(tables, name) for name in SCHEMAS if hasattr(tables, name)}
    frames["points"] = frames["points"].sort("metric", maintain_order=True)
    frames["gaps"] = frames["gaps"].sort("offset", "bytes", "why")
    return frames


def targets(folder: Path, names: list[str]) -> Iterator[Target]:
    """The formats named, or all; KeyError for one that has no seeds."""
    modules = {module.NAME: module for module in formats()}
    for name in names or [*modules, "compressed"]:
        place = folder / name
        target = Target(name, place, WRITERS[name](), SMALL.get(name, {}), modules.get(name))
        target.promise = _promise(target)
        yield target


def _promise(target: Target) -> Promise:
    match target.name:
        case "tensorboard":
            return Events(target.seeds)
        case "wandb":
            return Blocks(target.seeds)
        case "csv" | "json" | "text" | "mlflow":
            return Lines(target.seeds, partial(_of_seed, target))
        case "compressed":
            return Packed(target.seeds, lambda: target.unpacked)
        case _:
            return nothing_more


def _of_seed(target: Target, seed: Seed) -> Tables:
    path = target.path(seed)
    path.write_bytes(seed.data)
    return target.read(path)
