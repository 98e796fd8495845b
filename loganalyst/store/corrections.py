"""What the user's loganalyst.yaml says of each run: where it says something else than it did, a run has changed."""

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
    """What holds for a run: a `stamp` of the files found and the rules they name, one of the log-line `patterns` among
    them (both empty where there are none), the folders of those rules, and which file is obeyed.
    """

    stamp: str = ""
    patterns: str = ""
    rules: tuple[Path, ...] = ()
    chosen: Chosen = Chosen()


class Nearest:
    """The corrections of many runs below the folders `named`; every file is read once."""

    def __init__(self, named: Iterable[str], *, trusted: bool = False) -> None:
        self._finder = Finder(named, trusted=trusted)
        self._read: dict[Chosen, Corrections] = {Chosen(): Corrections()}

    def of(self, run: str, *, is_file: bool = False) -> Corrections:
        """Those that hold for the run with this real path; `is_file`: it is a file."""
        chosen = self._finder.chosen(run, is_file=is_file)
        if chosen not in self._read:
            self._read[chosen] = _read(chosen)
        return self._read[chosen]


def folders(runs: Mapping[str, list[str]]) -> list[str]:
    """At or above which folders settings are the user's, by what was named and the roots of two runs met there (real
    paths): each folder that was named, but of one that is a run itself, or the working directory of a single one, that
    above it.
    """
    return [place if _of_runs(place, roots) else os.path.dirname(place) for place, roots in map(_folder, runs.items())]


def _folder(named: tuple[str, list[str]]) -> tuple[str, list[str]]:
    """A file that was named stands for its folder, which holds no other run as far as the user says."""
    place, roots = named
    return (place, roots) if os.path.isdir(place) else (os.path.dirname(place), [os.path.dirname(place)])


def _of_runs(place: str, roots: list[str]) -> bool:
    """Whether a folder holds runs and is none: one run lies in it, or where its tracker puts what a program logs."""
    if place in roots or len(roots) != 1:
        return place not in roots
    first, *deeper = os.path.relpath(roots[0], place).split(os.sep)
    return bool(deeper or os.path.isdir(roots[0])) and first not in TRACKERS


def _read(chosen: Chosen) -> Corrections:
    """A file that is not valid changes nothing of the reading; judging says what is wrong with it."""
    try:
        rules = chosen.read().rules
        patterns, state = (
            userpatterns.of(rules).stamp,
            rulefiles.digest([Path(chosen.file), *rules] if chosen.file else []),
        )
    except LogAnalystError:
        rules, patterns, state = (), "", rulefiles.digest([Path(chosen.file)])
    named = blake2b(os.fsencode(f"{state} {chosen}"), digest_size=6).hexdigest()
    return Corrections(named, patterns, rules, chosen)
