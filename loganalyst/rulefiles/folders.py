"""Finds the files of rules, within bounds and never outside their folder, and fingerprints them."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from loganalyst.errors import RuleError

MAX_FILE_BYTES = 2_000_000  # rules and corrections are written by people
MAX_ENTRIES = 5_000  # files and folders in a folder of rules
MAX_FOLDER_BYTES = 20_000_000  # of YAML in a folder of rules
MAX_FOLDER_DEPTH = 8
_BOUNDS = (
    f"at most {MAX_ENTRIES:,} entries, {MAX_FOLDER_BYTES // 1_000_000} MB of YAML, {MAX_FOLDER_DEPTH} levels of folders"
)


@cache
def rules_dir() -> Path:
    """The catalogue's folder: inside the installed package, or next to the package in a checkout."""
    package = Path(__file__).parents[1]
    return next((p for p in (package / "rules", package.parent / "rules") if p.is_dir()), package / "rules")


@cache
def our_digest() -> str:
    """A fingerprint of the catalogue's present state."""
    return digest([rules_dir()])


def digest(places: Iterable[Path]) -> str:
    """A fingerprint of some files, and of the YAML in some folders: 8 hexadecimal digits."""
    state = blake2b(digest_size=4)
    for place in places:
        for file in [place] if place.is_file() else yaml_files(place):
            state.update(file.relative_to(place).as_posix().encode() + b"\0")
            with suppress(OSError), file.open("rb") as handle:
                state.update(handle.read(MAX_FILE_BYTES + 1))  # a larger file is refused anyway
            state.update(b"\0")
    return state.hexdigest()


def origin(file: str | Path) -> str:
    """The file of a user's rule or pattern; empty for a file of our catalogue."""
    return "" if Path(file).is_relative_to(rules_dir()) else str(file)


def sources(folder: Path, end: str) -> Iterator[tuple[str, bytes]]:
    """The files below one of our folders whose names end with `end`: path and content, sorted by path.

    Raises RuleError as for `yaml_files`, OSError for a file that cannot be read.
    """
    start = len(os.path.join(folder, ""))
    for path in sorted(_below(folder, "", end)):
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size  # a call reserves as much memory as it may read
            yield path[start:], file.read(min(size, MAX_FILE_BYTES) + 1)


def yaml_files(folder: Path, within: str = "") -> list[Path]:
    """All `*.yaml` below a folder of rules (or below its subfolder `within`), sorted by path.

    Links that lead out of the folder of rules, and links to folders, are not followed. Raises RuleError for a folder
    with more than MAX_ENTRIES entries, MAX_FOLDER_BYTES of YAML or MAX_FOLDER_DEPTH levels: it holds no rules.
    """
    return sorted(map(Path, _below(folder, within, ".yaml")))


def _below(folder: Path, within: str, end: str) -> list[str]:
    home, start = os.path.join(os.path.realpath(folder), ""), os.path.join(folder, within) if within else str(folder)
    found, open_folders, entries_seen, size = list[str](), [(start, 0)], 0, 0
    if not os.path.join(os.path.realpath(start), "").startswith(home):
        return []
    for place, depth in open_folders:
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                entries_seen += 1
                if entry.is_dir(follow_symlinks=False):
                    open_folders.append((entry.path, depth + 1))
                elif entry.name.endswith(end) and _is_file_below(entry, home):
                    size += entry.stat().st_size
                    found.append(entry.path)
                if entries_seen > MAX_ENTRIES or size > MAX_FOLDER_BYTES or depth > MAX_FOLDER_DEPTH:
                    raise RuleError(folder, "is too large for a folder of rules", _BOUNDS)
    return found


def _is_file_below(entry: "os.DirEntry[str]", home: str) -> bool:
    return entry.is_file() and (not entry.is_symlink() or os.path.realpath(entry.path).startswith(home))
