"""What the user's loganalyst.yaml says of each run: where it says something else than it did, a run has changed."""

import os
from pathlib import Path
from typing import NamedTuple

from loganalyst import rulefiles, settings
from loganalyst.errors import LogAnalystError
from loganalyst.sources.log import own


class Corrections(NamedTuple):
    """What holds for a run: a `stamp` of the file and the rules it names, one of the log-line `patterns` among them
    (both empty where there are none), and the folders of those rules.
    """

    stamp: str = ""
    patterns: str = ""
    rules: tuple[Path, ...] = ()


class Nearest:
    """The corrections of many runs. Every folder above them is looked into once, every file read once."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._read: dict[str, Corrections] = {"": Corrections()}

    def of(self, run: str, *, alone: bool = False) -> Corrections:
        """Those that hold for the run with this real path; `alone`: it is a file."""
        file = (not alone and _inside(run)) or self._above(run)
        if file not in self._read:
            self._read[file] = _read(Path(file))
        return self._read[file]

    def _above(self, place: str) -> str:
        """The nearest file above a place; empty where there is none."""
        unknown = list[str]()
        while (folder := os.path.dirname(place)) != place and folder not in self._files:
            unknown.append(folder)
            place = folder
        file = self._files.get(folder, "")
        for folder in reversed(unknown):  # no recursion: a tree may be thousands of folders deep
            file = self._files[folder] = _inside(folder) or file
        return file


def _inside(folder: str) -> str:
    file = os.path.join(folder, settings.NAME)
    return file if os.path.isfile(file) else ""


def _read(file: Path) -> Corrections:
    """One that is not valid changes nothing of the reading; judging says what is wrong with it."""
    try:
        rules = settings.parse(rulefiles.load(file)).rules
    except LogAnalystError:
        rules = ()
    return Corrections(rulefiles.digest([file, *rules]), own.of(rules).stamp, rules)
