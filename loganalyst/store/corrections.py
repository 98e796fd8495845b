"""The user's loganalyst.yaml for each run: if its corrections change, the run counts as changed."""

import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from loganalyst import rulefiles
from loganalyst.errors import LogAnalystError
from loganalyst.settings import Chosen, Finder
from loganalyst.sources.discovery.filenames import TRACKERS
from loganalyst.sources.text.patterns import userpatterns


class Corrections(NamedTuple):
    """The corrections of a run: a `stamp` of the files found and the rules they name, a stamp of the log-line
    `patterns` among them (both empty if there are none), the folders of those rules, and the file that is obeyed.
    """

    stamp: str = ""
    patterns: str = ""
    rules: tuple[Path, ...] = ()
    chosen: Chosen = Chosen()


class Nearest:
    """The corrections of many runs below the folders `named`; each file is read once."""

    def __init__(self, named: Iterable[str], *, trusted: bool = False) -> None:
        self._finder = Finder(named, trusted=trusted)
        self._read: dict[Chosen, Corrections] = {Chosen(): Corrections()}

    def corrections(self, run: str, *, is_file: bool = False) -> Corrections:
        """The corrections for the run at this real path."""
        chosen = self._finder.chosen(run, is_file=is_file)
        if chosen not in self._read:
            self._read[chosen] = _read(chosen)
        return self._read[chosen]


def folders(runs: Mapping[str, list[str]]) -> list[str]:
    """The folders at or above which settings are the user's. `runs` maps each path that the user named to the roots of
    at most two runs met there (real paths). A named folder counts itself, unless it is a run or the working directory
    of a single run: then the folder above it counts.
    """
    return [place if _of_runs(place, roots) else os.path.dirname(place) for place, roots in map(_folder, runs.items())]


def _folder(named: tuple[str, list[str]]) -> tuple[str, list[str]]:
    """For a named file, its folder, which counts as a run of its own; else the named folder and its runs."""
    place, roots = named
    return (place, roots) if os.path.isdir(place) else (os.path.dirname(place), [os.path.dirname(place)])


def _of_runs(place: str, roots: list[str]) -> bool:
    """Whether a folder holds runs and is no run itself: several runs, or one outside of a tracker's folders."""
    if place in roots or len(roots) != 1:
        return place not in roots
    first, *deeper = os.path.relpath(roots[0], place).split(os.sep)
    return bool(deeper or os.path.isdir(roots[0])) and first not in TRACKERS


def _read(chosen: Chosen) -> Corrections:
    """The corrections of a file. A file that is not valid does not change the reading; judging reports it."""
    try:
        rules = chosen.read().rules
        patterns, state = (
            userpatterns.find(rules).stamp,
            rulefiles.digest([Path(chosen.file), *rules] if chosen.file else []),
        )
    except LogAnalystError:
        rules, patterns, state = (), "", rulefiles.digest([Path(chosen.file)])
    named = blake2b(os.fsencode(f"{state} {chosen}"), digest_size=6).hexdigest()
    return Corrections(named, patterns, rules, chosen)
