"""Settings by the ends of their dotted keys, with the key as written and its file."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec
import polars as pl

from loganalyst.model import FeatureValue

YES, NO = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
MAX_VAGUE = 3  # letters of a key that may mean anything
NOT_SET = ("", "null", "none", "~", "[]", "{}", "(left out: looks like a secret)")


class Setting(msgspec.Struct, frozen=True):
    """One row of a config: the key as written, its value as text and as a number, and the file."""

    key: str
    text: str
    number: float | None
    file: str | None

    @property
    def switch(self) -> bool | None:
        """Yes or no; None for any other text."""
        text = self.text.strip().lower()
        return True if text in YES else False if text in NO else None


@dataclass(frozen=True)
class ConfigKeys:
    """The `config` rows of a run."""

    config: pl.DataFrame

    def find(
        self, keys: Iterable[str], kind: str = "text", neighbours: Collection[str] = ()
    ) -> tuple[FeatureValue, Setting] | None:
        """The first setting whose dotted key ends in one of `keys` and has a value of the `kind`, and this value.

        The kinds are number, switch and text. None where there is none. If the same key stands at several places with
        different values, the least deep place counts. Of equally deep places none does: they belong to different parts.
        If `neighbours` are given, a key that may mean anything (`r`, `eps`) counts only at places where one of these
        keys stands, too.
        """
        for key in keys:
            found = [(value, s) for s in self._by_end.get(key, ()) if (value := _value(s, kind)) is not None]
            if neighbours and len(key) <= MAX_VAGUE:
                found = [(value, s) for value, s in found if self._has(s, neighbours)]
            depths = [s.key.count(".") for _, s in found]
            nearest = [pair for pair, depth in zip(found, depths, strict=True) if depth == min(depths)]
            if nearest and len({value for value, _ in nearest}) == 1:
                return nearest[0]
        return None

    def _has(self, setting: Setting, names: Collection[str]) -> bool:
        """Whether one of `names` stands at the place of a setting."""
        place = setting.key.rpartition(".")[0].lower()
        return any(s.key.rpartition(".")[0].lower() == place for name in names for s in self._by_end.get(name, ()))

    def number(self, *keys: str) -> float | None:
        """The number that `find` finds."""
        found = self.find(keys, "number")
        return None if found is None else found[1].number

    def text(self, *keys: str) -> str | None:
        """The text that `find` finds, in lower case."""
        found = self.find(keys)
        return None if found is None else found[1].text.strip().lower()

    def switch(self, *keys: str) -> bool | None:
        """The yes or no that `find` finds."""
        found = self.find(keys, "switch")
        return None if found is None else found[1].switch

    def names(self, *keys: str) -> bool:
        """Whether a setting with one of these keys exists, with whatever value."""
        return any(key in self._by_end for key in keys)

    def items(self, key: str) -> tuple[str, ...]:
        """The entries of a list, in lower case: `target_modules.0`, `target_modules.1` …, or one text with commas."""
        rows = [s for s in self._all if f".{key}." in f".{s.key.lower()}." and s.key.rpartition(".")[2].isdecimal()]
        if rows:
            return tuple(dict.fromkeys(s.text.strip().lower() for s in rows))
        whole = self.text(key)
        return tuple(part.strip(" '\"[]()") for part in whole.split(",")) if whole else ()

    @cached_property
    def _all(self) -> tuple[Setting, ...]:
        rows = self.config.select("key", "value", "number", "origin").drop_nulls(["key", "value"])
        return tuple(Setting(*row) for row in rows.iter_rows())

    @cached_property
    def _by_end(self) -> Mapping[str, list[Setting]]:
        """The settings by every end of their dotted key, in lower case, with `-` as `_`."""
        found: dict[str, list[Setting]] = {}
        for setting in self._all:
            parts = setting.key.lower().replace("-", "_").replace("/", ".").split(".")
            for i in range(len(parts)):
                found.setdefault(".".join(parts[i:]), []).append(setting)
        return found


def _value(setting: Setting, kind: str) -> FeatureValue:
    """The value as a finite number, a switch or a text; None where it is none."""
    if kind == "number":
        return setting.number if setting.number is not None and math.isfinite(setting.number) else None
    if kind == "switch":
        return setting.switch
    text = setting.text.strip()
    return None if text.lower() in NOT_SET else text
