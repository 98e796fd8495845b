"""A store's folder as the segments that its ledger names; which of them are sound, and which count."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from loganalyst.store import ledger as ledgers
from loganalyst.store.columns import JUDGED, KEPT, READ
from loganalyst.store.ledger import Ledger, Seal, broken, seal
from loganalyst.store.segments import SEGMENT, first, last, readable
from loganalyst.writing import move, sync


class SegmentFolder:
    """The segments in the folder of a store, and its files that are not complete yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ledger: Ledger | None = None
        self._seen: tuple[int, int] | None = None  # modification time and inode of the ledger that was read

    def ledger(self) -> Ledger:
        """The ledger as it is on disk now. Raises DamagedError where it is missing or damaged."""
        try:
            found = os.stat(self.path / "tables" / ledgers.NAME)
            seen = (found.st_mtime_ns, found.st_ino)
        except OSError:
            seen = None
        if self._ledger is None or seen is None or seen != self._seen:
            self._ledger, self._seen = ledgers.load(self.path / "tables"), seen
        return self._ledger

    def save(self) -> None:
        """Write the ledger to disk, whole or not at all. Only for the holder of the lock."""
        temporary, file = self.temporary / ledgers.NAME, self.path / "tables" / ledgers.NAME
        temporary.write_bytes((self._ledger or Ledger()).text())
        sync([temporary])
        put(temporary, file)
        sync([file.parent])
        found = os.stat(file)
        self._seen = (found.st_mtime_ns, found.st_ino)

    def take_stock(self) -> None:
        """Begin a new ledger with the segments that can be read. Only for the holder of the lock."""
        self._ledger = Ledger()
        for file in (self.path / "tables").glob("*/*.parquet"):
            if file.parent.name in (*READ, *JUDGED, *KEPT) and SEGMENT.fullmatch(file.name) and readable(file):
                self._ledger.segments.setdefault(file.parent.name, {})[file.name] = seal(file)
        self.save()

    def forget(self, segments: Iterable[Path]) -> None:
        """Remove segments from the ledger in memory; `save` writes it."""
        for file in segments:
            self.ledger().segments[file.parent.name].pop(file.name)

    def drop(self, runs: Iterable[str], stamp: int) -> None:
        """Make rows of runs up to a stamp not count, in the ledger in memory; `save` writes it."""
        self.ledger().dropped.update(dict.fromkeys(runs, stamp))

    def segments(self, name: str) -> list[Path]:
        """The sound segments that count, oldest first, without those that a compacted one replaces."""
        every = self.counting_files(name)
        return [file for file in every if not broken(file, every[file])]

    def damaged(self, name: str) -> dict[Path, str]:
        """The segments that should count and are damaged, each with the reason."""
        return {file: why for file, sealed in self.counting_files(name).items() if (why := broken(file, sealed))}

    def counting_files(self, name: str) -> dict[Path, Seal]:
        """The segments that should count with their seals, oldest first."""
        place, counting = self.path / "tables" / name, list[tuple[Path, Seal]]()
        covered = 1 << 63  # a newer segment holds the rows of all stamps from here on
        named = {place / file: sealed for file, sealed in self.ledger().segments.get(name, {}).items()}
        for file in sorted(named, key=lambda f: (-last(f), first(f))):
            if last(file) < covered:
                counting.append((file, named[file]))
                covered = first(file)
        return dict(reversed(counting))

    def span(self, segment: Path) -> tuple[int, int]:
        """The first and the last stamp that a segment covers."""
        return first(segment), last(segment)

    @property
    def temporary(self) -> Path:
        """The folder for files that are not complete yet."""
        folder = self.path / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def clear(self) -> None:
        """Remove unfinished files. Only for the holder of the lock."""
        for left in self.temporary.iterdir():
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)  # a process that outlived its parent may still write there
            else:
                left.unlink(missing_ok=True)


def put(file: Path, to: Path) -> None:
    """Put a synced file into its place in the store, even if a folder is there."""
    try:
        move(file, to)
    except IsADirectoryError:
        shutil.rmtree(to)
        move(file, to)
