"""What must hold of a reader on any bytes, and what it must still give where a part of a known file is whole."""

import shutil
import signal
import traceback
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
from fuzzing.mutate import OTHER, Input, runs, whole
from fuzzing.seeds import Spec

from loganalyst.model import SCHEMAS, Tables

SECONDS = 20  # of processor time that reading a small file may take: a hang is far beyond
Facts = Counter[tuple[object, ...]]


class HangError(Exception):
    """Reading took longer than SECONDS."""


class Fault(NamedTuple):
    """`kind` is a column of the table; equal `place` means the same defect."""

    kind: str
    place: str
    detail: str


@contextmanager
def watched() -> Iterator[None]:
    """Raises HangError inside the block when its processor time is up."""

    def stop(*_: object) -> None:
        raise HangError(f"more than {SECONDS} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Subject:
    """One seed under test. Its folder is copied, so that mutated files stand among their siblings."""

    def __init__(self, module: ModuleType, spec: Spec, seed: Path, work: Path, root: Path) -> None:
        self.module, self.spec, self.name = module, spec, seed.relative_to(root).as_posix()
        shutil.copytree(root, work, dirs_exist_ok=True)
        self.path, self.data = work / seed.relative_to(root), seed.read_bytes()
        self.exact = self.name.startswith("exact/")
        self.units = spec.units(self.data) if self.exact else []
        self.starts = [start for start, _ in self.units]
        tables = self.read(self.data)
        self.facts, self.by_line = facts(tables), tables.points["line"].count() > 0 and not spec.checked
        if self.by_line:
            numbered = lined(tables)
            self.held = [numbered.get(i + 1, Counter()) for i in range(len(self.units))]
        else:
            head = self.data[: spec.head(self.data)]
            alone = [facts(self.read(head + self.data[a:b])) if a >= len(head) else Counter() for a, b in self.units]
            logged = spec.logged(self.data) if spec.logged and self.exact else [True] * len(alone)
            self.held = [found & self.facts if own else Counter() for found, own in zip(alone, logged, strict=True)]
            self.allowed = set(self.facts).union(*alone)

    def read(self, data: bytes) -> Tables:
        self.path.write_bytes(data)
        return Tables.concat(self.module.read(self.path))

    def faults(self, it: Input, other: "Subject") -> list[Fault]:
        """Everything wrong with reading the input, which may hold parts of `other`."""
        try:
            with watched():
                sure = self.module.sniff(self.path, it.data[: 1 << 16])
                tables = self.read(it.data)
        except HangError as error:
            return [Fault("hangs", innermost(error), str(error))]
        except Exception as error:
            return [Fault("exceptions", f"{type(error).__name__} {innermost(error)}", traceback.format_exc()[-1500:])]
        out = list(misshapen(tables, len(it.data)))
        if not 0 <= sure <= 1:
            out.append(Fault("invalid", "sniff", f"sniff gives {sure}"))
        if self.exact and self.units:
            out += self._values(it, tables, other) if not self.by_line else self._lines(it, tables, other)
        return out

    def _values(self, it: Input, tables: Tables, other: "Subject") -> Iterator[Fault]:
        """Records that prove themselves or stand alone: none lost; with checksums, no other value, no silence."""
        found, places = facts(tables), list(self._whole(it, other))
        if not self.spec.checked and not self._trusted(it, len(places)):
            return
        expected: Facts = sum((subject.held[i] for subject, i, _ in places), Counter())
        if lost := expected - found:
            yield Fault("lost", self.name, f"{lost.total()} of {expected.total()}, such as {next(iter(lost))}")
        if self.spec.checked:
            known = self.allowed | other.allowed if other.exact else self.allowed
            if wrong := [fact for fact in found if fact not in known]:
                yield Fault("wrong", self.name, f"{len(wrong)}, such as {wrong[0]}")
            if not tables.gaps.height and (at := uncovered(it, places, self.spec)) is not None:
                yield Fault("untold", self.name, f"no gap, though the byte at {at} is no part of a whole record")

    def _lines(self, it: Input, tables: Tables, other: "Subject") -> Iterator[Fault]:
        """Lines that stand whole give what they gave."""
        places = list(self._whole(it, other))
        if not self._trusted(it, len(places)):
            return
        found, every = lined(tables), facts(tables)
        for subject, unit, at in places:
            if at and it.data[at - 1] != 10:
                continue
            number = it.data.count(b"\n", 0, at) + 1
            has, expected = found.get(number, Counter()), subject.held[unit]
            if wrong := has - expected:
                yield Fault(
                    "wrong", self.name, f"line {number}: {next(iter(wrong))} in place of {next(iter(expected), None)}"
                )
                return
            if lost := [fact for fact in expected - has if fact not in every]:  # a repeated line may count once
                yield Fault("lost", self.name, f"line {number}: {lost[0]}")
                return

    def _trusted(self, it: Input, count: int) -> bool:
        """Whether lines keep their meaning: the head stands, most lines do, and no quote was put among them."""
        head = self.spec.head(self.data)
        standing = it.data[:head] == self.data[:head]
        quoted = b'"' in it.data and b'"' not in self.data
        return standing and not quoted and 2 * count >= it.data.count(b"\n")

    def _whole(self, it: Input, other: "Subject") -> Iterator[tuple["Subject", int, int]]:
        """(whose, which, where) of every record that stands whole."""
        for place, origin, length in runs(it.origin):
            subject, begin = (self, origin) if origin < OTHER else (other, origin - OTHER)
            for i in range(bisect_left(subject.starts, begin), len(subject.units)):
                start, end = subject.units[i]
                if end > begin + length:
                    break
                at = place + start - begin
                if fits(self.spec.block, start, end, at):
                    yield subject, i, at


def fits(block: int, start: int, end: int, at: int) -> bool:
    """Whether a record that stood at `start` is still one at `at`: its parts do not cross other borders."""
    if not block or (at - start) % block == 0:
        return True
    return start // block == (end - 1) // block and at // block == (at + end - start - 1) // block


def uncovered(it: Input, places: list[tuple[Subject, int, int]], spec: Spec) -> int | None:
    """The first byte that is part of no whole record, of no file header and of no padding of a block."""
    rest = np.ones(len(it.data), np.bool_)
    for subject, unit, at in places:
        start, end = subject.units[unit]
        rest[at : at + end - start] = False
    head = spec.head(it.data)
    rest[:head] = False
    if spec.block:
        raw = np.frombuffer(it.data, np.uint8)
        rest &= ~((raw == 0) & (np.arange(len(raw)) % spec.block >= spec.block - 6))
    return int(rest.argmax()) if rest.any() else None


def misshapen(tables: Tables, size: int) -> Iterator[Fault]:
    """Tables that are not as their schema says, and gaps outside the file."""
    for field in fields(Tables):
        frame = getattr(tables, field.name)
        if frame.schema != SCHEMAS[field.name]:
            yield Fault("invalid", field.name, f"{field.name}: {frame.schema}")
    if tables.points["metric"].null_count() or tables.points["value"].null_count():
        yield Fault("invalid", "NULL", "a point without a metric or a value")
    for row in tables.gaps.iter_rows(named=True):
        begin, extent = row["offset"] or 0, row["bytes"] or 0
        if not (row["file"] and row["why"]) or begin < 0 or extent < 0 or begin + extent > size:
            yield Fault("invalid", "gap", f"{row} of a file of {size} bytes")


def facts(tables: Tables) -> Facts:
    """Every number read, bit for bit, with its axes; summaries of histograms; jobs."""
    points, jobs = tables.points, tables.jobs.drop("origin")
    shared = tables.distributions.drop("session", "source")
    rows = zip(*_columns(points), strict=True)
    return Counter([*rows, *((repr(row),) for frame in (shared, jobs) for row in frame.iter_rows())])


def lined(tables: Tables) -> dict[int, Facts]:
    """The points of each line."""
    out: dict[int, Facts] = {}
    for line, *fact in zip(tables.points["line"].to_list(), *_columns(tables.points), strict=True):
        out.setdefault(line, Counter())[tuple(fact)] += 1
    return out


def _columns(points: object) -> list[list[object]]:
    axes = [points[name].to_list() for name in ("metric", "step", "epoch")]
    return [*axes, points["time"].to_physical().to_list(), points["value"].to_numpy().view(np.int64).tolist()]


def innermost(error: BaseException) -> str:
    """The last place in the package that the error passed."""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "/loganalyst/sources/" in f.filename]
    return f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "outside"


def intact(subject: Subject) -> list[Fault]:
    """The faults of the seed itself: must be none."""
    return subject.faults(whole(subject.data), subject)
