"""`loganalyst.yaml`: the user's corrections. Read only, never written.

A run may come from anywhere, and so may a settings file in it: `Finder` decides which files are the user's.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from loganalyst.errors import RuleError, SourceError, nearest
from loganalyst.rulefiles import Finite, RuleFile, Shape, load, needed, typed

NAME = "loganalyst.yaml"
NOT_OBEYED = "not obeyed, for it came with the run; --trust-run-settings obeys it, --config FILE a copy of yours"
_NOUNS = ("role", "weight of a loss term", "direction", "accepted cause", "folder of rules")


class Ignore(Shape, frozen=True):
    """A finding the user accepts: rule id, glob over run paths, why, and until when (None: for good)."""

    rule: str
    runs: str = "*"
    reason: str = ""
    until: date | None = None


class Settings(msgspec.Struct, frozen=True):
    """Corrections of one run. `roles` maps globs to roles, `loss_terms` globs to weights, `direction` globs to the
    direction of harm (up | down). `rules` are folders with the user's own rules. `trusts`: settings files that lie in
    runs are obeyed too.
    """

    roles: Mapping[str, str] = msgspec.field(default_factory=dict)
    loss_terms: Mapping[str, float] = msgspec.field(default_factory=dict)
    direction: Mapping[str, str] = msgspec.field(default_factory=dict)
    ignore: tuple[Ignore, ...] = ()
    rules: tuple[Path, ...] = ()
    path: Path | None = None
    trusts: bool = False

    def corrections(self) -> dict[str, str]:
        """Globs to role names, the loss terms included."""
        return {**dict.fromkeys(self.loss_terms, "loss_component"), **self.roles}

    def accepted(self, run: Path, name: str, today: date | None = None) -> dict[str, str]:
        """The rules that are accepted for this run, by its path or name, each with the reason."""
        day = today or date.today()
        return {
            i.rule: f"{i.rule}: {i.reason or 'accepted'}"
            + (f" (until {i.until})" if i.until else "")
            + f", says {self.path}"
            for i in self.ignore
            if (i.until is None or day <= i.until) and (fnmatchcase(str(run), i.runs) or fnmatchcase(name, i.runs))
        }

    def unknown_ignores(self, rules: Collection[str], *, quoted: bool) -> Iterator[str]:
        """A message for each entry of `ignore` that names no rule: most likely misspelt. Only `quoted` ones repeat
        what the file says.
        """
        for entry in self.ignore:
            if entry.rule in rules:
                continue
            if quoted:
                hint = nearest(entry.rule, rules) or "`loganalyst rules list` names them all"
                yield f"{self.path}: ignore names {entry.rule!r}, which is no rule; {hint}"
            else:
                yield f"{self.path}: ignore names what is no rule"

    def summary(self) -> str:
        """The entries of the file, counted: `2 roles, 1 accepted cause`."""
        counts = map(len, (self.roles, self.loss_terms, self.direction, self.ignore, self.rules))
        entries = [f"{n} {_plural(noun, n)}" for noun, n in zip(_NOUNS, counts, strict=True) if n]
        return ", ".join(entries + (["settings in runs are obeyed"] if self.trusts else [])) or "says nothing"


def _plural(noun: str, n: int) -> str:
    """`folder of rules` becomes `folders of rules`."""
    first, of, rest = noun.partition(" of ")
    return noun if n == 1 else f"{first}s{of}{rest}"


class Chosen(NamedTuple):
    """The settings of one run: the `file` that is obeyed (empty: none), whether it lies `inside` of what was named, and
    the files that were found and are not obeyed.
    """

    file: str = ""
    inside: bool = False
    ignored: tuple[str, ...] = ()

    def read(self) -> Settings:
        """The content of the file. Raises RuleError, which quotes nothing of a file that may be someone else's."""
        if not self.file:
            return Settings()
        try:
            return parse(load(Path(self.file)))
        except RuleError as error:
            raise (error.unquoted() if self.inside or os.path.islink(self.file) else error) from None


class Finder:
    """Finds the settings of many runs. Each folder is looked into once.

    Files at or above the folders `named` are the user's; the nearest of them at or above a run is obeyed. Other files
    count only if they are `trusted`, or if the user's own file trusts them.
    """

    def __init__(self, named: Iterable[str], *, trusted: bool = False) -> None:
        self._user_folders = {above for folder in named for above in _upwards(folder)}
        self._trusted = trusted
        self._files: dict[str, tuple[str, ...]] = {}
        self._trusts: dict[str, bool] = {"": False}

    def chosen(self, run: str, *, is_file: bool = False) -> Chosen:
        """The settings of the run at this real path."""
        found = self._at_or_above(os.path.dirname(run))
        if not is_file and os.path.isfile(own := os.path.join(run, NAME)):
            found = (own, *found)
        users = next((file for file in found if os.path.dirname(file) in self._user_folders), "")
        others = tuple(file for file in found if os.path.dirname(file) not in self._user_folders)
        if others and (self._trusted or self._trusts_runs(users)):
            return Chosen(found[0], inside=found[0] in others)
        return Chosen(users, ignored=others)

    def _trusts_runs(self, file: str) -> bool:
        """Whether a file of the user's trusts the files that came with runs."""
        if file not in self._trusts:
            try:
                self._trusts[file] = parse(load(Path(file))).trusts
            except RuleError:  # reported when the file is read for its run
                self._trusts[file] = False
        return self._trusts[file]

    def _at_or_above(self, folder: str) -> tuple[str, ...]:
        """The files in a folder and in those above it, the nearest first."""
        new = []
        for place in _upwards(folder):
            if place in self._files:
                break
            new.append(place)
        for place in reversed(new):
            above = self._files.get(os.path.dirname(place), ()) if os.path.dirname(place) != place else ()
            file = os.path.join(place, NAME)
            self._files[place] = (file, *above) if os.path.isfile(file) else above
        return self._files[folder]


def _upwards(folder: str) -> Iterator[str]:
    """The folder and all above it."""
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        yield above
        folder = above


def choose(run: Path, config: Path | None = None, *, named: Path | None = None, trusted: bool = False) -> Chosen:
    """The settings that hold for the run at `run`: the file `config`, else the nearest above `named`.

    `named` is the path that the user named (None: the run); everything in it counts as part of the run. With `trusted`
    the nearest file at or above the run is obeyed. Raises SourceError where the file `config` is missing.
    """
    if config is not None and not os.path.isfile(config):
        raise SourceError(config, "no such file", "--config takes a loganalyst.yaml")
    real = os.path.realpath(run)  # unlike resolve(), does not raise for a circle of links
    place = os.path.realpath(named or run)
    above = os.path.dirname(place if os.path.isdir(place) else os.path.dirname(place))
    found = Finder([above], trusted=trusted).chosen(real, is_file=not os.path.isdir(real))
    return found if config is None else Chosen(str(config), ignored=found.ignored)


def find(run: Path, config: Path | None = None, *, named: Path | None = None, trusted: bool = False) -> Settings:
    """As `choose`, read. Raises SourceError, and RuleError for a file that is not valid."""
    return choose(run, config, named=named, trusted=trusted).read()


_Weight = Annotated[Finite, needed("a number: the weight of the term")]
_Harm = Annotated[Literal["up", "down"], needed("up or down: the direction of harm")]


class _File(Shape, frozen=True):
    roles: dict[str, str] = msgspec.field(default_factory=dict)
    loss_terms: dict[str, _Weight] = msgspec.field(default_factory=dict)
    direction: dict[str, _Harm] = msgspec.field(default_factory=dict)
    ignore: tuple[Ignore, ...] = ()
    rules: tuple[Any, ...] = ()
    trust_run_settings: bool = False


def parse(file: RuleFile) -> Settings:
    """Check a loaded file; RuleError names the line and what is allowed."""
    if file.data is None:
        return Settings(path=file.path)
    found = typed(file, _File)
    return Settings(
        roles=found.roles,
        loss_terms=found.loss_terms,
        direction=found.direction,
        ignore=found.ignore,
        rules=tuple(_rules(file, i, str(name)) for i, name in enumerate(found.rules)),
        path=file.path,
        trusts=found.trust_run_settings,
    )


def _rules(file: RuleFile, i: int, name: str) -> Path:
    """One folder of rules: below the file, so that a file from anywhere opens nothing elsewhere."""
    home, named = file.path.parent, Path(name)
    folder = home / named
    below = os.path.realpath(folder).startswith(os.path.join(os.path.realpath(home), ""))
    if not below or os.path.realpath(folder) == os.path.realpath(home) or os.pardir in named.parts:
        allowed = "a folder below this file is needed, and no link out; --rules DIR takes any other"
        raise RuleError(file.where("rules", i), "rules names a folder that is refused", allowed)
    return folder
