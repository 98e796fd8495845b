"""Loads the YAML of rules, or its compiled data: plain data, and the line of every node."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import UNSET

from loganalyst.errors import RuleError
from loganalyst.rulefiles.compiledfile import data_of
from loganalyst.rulefiles.folders import rules_dir, yaml_files

Keys = tuple[str | int, ...]
Checked = TypeVar("Checked")


@dataclass(frozen=True)
class RuleFile:
    """A loaded file: plain data, and the line (from 1) of every node by its path of keys and list positions."""

    path: Path
    data: Any
    known_lines: Mapping[Keys, int] | None = None  # None for compiled data

    @cached_property
    def lines(self) -> Mapping[Keys, int]:
        """The lines; those of compiled data are read from the YAML."""
        found = _parsed(self.path).known_lines if self.known_lines is None else self.known_lines
        return found or {}

    def where(self, *keys: str | int) -> str:
        """``path:line`` of the node at `keys`, or of its nearest parent."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return f"{self.path}:{self.lines.get(keys, 1)}"

    def checked(self, at: Keys, check: Callable[[str], Checked]) -> Checked:
        """What `check` makes of the node at `at`, given its place. Compiled data has a line only where it has a fault:
        to look it up, the YAML must be parsed.
        """
        if self.known_lines is not None:
            return check(self.where(*at))
        try:
            return check(str(self.path))
        except RuleError:
            return check(self.where(*at))

    def place(self, *keys: str | int) -> "Place":
        """The place of the node at `keys`."""
        return Place(self.path, keys, self)

    def get(self, at: Keys) -> Any:
        """The node at a path of keys."""
        node = self.data
        for key in at:
            node = node[key]
        return node


@dataclass(frozen=True)
class Place:
    """A node of a file. Its line is looked up only when it is asked for, because compiled data has no lines."""

    path: Path
    keys: Keys
    file: RuleFile = field(compare=False)

    @property
    def where(self) -> str:
        """`path:line`."""
        return self.file.where(*self.keys)


def load(path: Path) -> RuleFile:
    """Load one YAML file with the safe types only; one of ours from the compiled file, if there is one.

    Raises RuleError as for `parsing.parsed`.
    """
    known = data_of(path)
    return _parsed(path) if known is UNSET else RuleFile(path, known)


def _parsed(path: Path) -> RuleFile:
    from loganalyst.rulefiles.parsing import parsed  # the YAML library takes 25 ms; compiled data need none

    return parsed(path)


@cache
def text_files() -> tuple[RuleFile, ...]:
    """Our files of log-line patterns, loaded once."""
    return tuple(load_all(rules_dir() / "text"))


def load_all(folder: Path) -> Iterator[RuleFile]:
    """Every YAML file below `folder`."""
    return map(load, yaml_files(folder))
