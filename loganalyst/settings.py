"""`loganalyst.yaml`: the user's corrections, at or above a run. Read only, never written."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from loganalyst.errors import RuleError, SourceError
from loganalyst.rulefiles import RuleFile, load

NAME = "loganalyst.yaml"
_KEYS = ("roles", "loss_terms", "direction", "ignore", "rules")


@dataclass(frozen=True)
class Ignore:
    """A finding the user accepts: rule id, glob over run paths, why, and until when (None: for good)."""

    rule: str
    runs: str = "*"
    reason: str = ""
    until: date | None = None


@dataclass(frozen=True)
class Settings:
    """Corrections of one run. `roles` glob -> role, `loss_terms` glob -> weight, `direction` glob -> up | down (harm),
    `rules` folders with the user's own rules.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    loss_terms: Mapping[str, float] = field(default_factory=dict)
    direction: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[Ignore, ...] = ()
    rules: tuple[Path, ...] = ()
    path: Path | None = None

    def corrections(self) -> dict[str, str]:
        """Globs to role names, the loss terms included."""
        return {**dict.fromkeys(self.loss_terms, "loss_component"), **self.roles}


def find(run: Path, named: Path | None = None) -> Settings:
    """The settings that hold for `run`: the file `named`, else the nearest one at or above it, else none.

    Raises SourceError for a named file that is missing, RuleError for one that is not valid.
    """
    if named is not None:
        if not os.path.isfile(named):
            raise SourceError(named, "no such file", "--config takes a loganalyst.yaml")
        return parse(load(named))
    start = Path(os.path.realpath(run))  # unlike resolve(), does not raise for a circle of links
    for folder in [start, *start.parents]:
        if os.path.isfile(folder / NAME):
            return parse(load(folder / NAME))
    return Settings()


def parse(file: RuleFile) -> Settings:
    """Check a loaded file; RuleError names the line and what is allowed."""
    if file.data is None:
        return Settings(path=file.path)
    file.check_keys((), (), _KEYS)
    roles, terms, direction = (_mapping(file, key) for key in ("roles", "loss_terms", "direction"))
    for glob, role in roles.items():
        if not isinstance(role, str):
            raise RuleError(file.where("roles", glob), f"found {role!r}", "the name of a role")
    settings = Settings(roles=roles, loss_terms=terms, direction=direction, path=file.path)
    for glob, value in settings.direction.items():
        if value not in ("up", "down"):
            raise RuleError(file.where("direction", glob), f"found {value!r}", "up or down: the direction of harm")
    for glob, weight in settings.loss_terms.items():
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not math.isfinite(weight):
            raise RuleError(file.where("loss_terms", glob), f"found {weight!r}", "a number: the weight of the term")
    return replace(
        settings,
        ignore=tuple(_ignore(file, i) for i in range(len(_list(file, "ignore")))),
        rules=tuple(file.path.parent / str(folder) for folder in _list(file, "rules")),
    )


def _mapping(file: RuleFile, key: str) -> dict[str, Any]:
    value = file.data.get(key) or {}
    if not isinstance(value, dict):
        raise RuleError(
            file.where(key), f"{key}: found {type(value).__name__}", "a mapping from glob to value is needed"
        )
    return {str(k): v for k, v in value.items()}


def _list(file: RuleFile, key: str) -> list[Any]:
    value = file.data.get(key) or []
    if not isinstance(value, list):
        raise RuleError(file.where(key), f"{key}: found {type(value).__name__}", "a list is needed")
    return value


def _ignore(file: RuleFile, i: int) -> Ignore:
    file.check_keys(("ignore", i), ("rule",), ("runs", "reason", "until"))
    entry = dict(file.data["ignore"][i])
    for key in ("rule", "runs", "reason"):
        if not isinstance(entry.get(key, ""), str):
            raise RuleError(file.where("ignore", i, key), f"{key}: found {entry[key]!r}", "a text is needed")
    until = entry.get("until")
    if until is not None and type(until) is not date:  # a date with a time is a date too, and compares with none
        raise RuleError(file.where("ignore", i, "until"), f"found {until!r}", "a date such as 2027-01-31")
    return Ignore(**entry)
