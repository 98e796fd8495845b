"""Reads the parts of one file of rules. Every fault is noted with its line."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from loganalyst.diagnosis.rulesql import Ask, parsed
from loganalyst.diagnosis.texttemplate import Template, template
from loganalyst.errors import RuleError, nearest
from loganalyst.model import Feature, FeatureValue
from loganalyst.rulefiles import Keys, RuleFile, fitted, refuse_name

T = TypeVar("T")
_PYTHON: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "bool": (bool,), "text": (str,)}


class Reader(msgspec.Struct):
    """Reads one file. It notes each faulty part in `faults` and puts a neutral value in its place."""

    file: RuleFile
    declared: Mapping[str, Feature]
    faults: list[RuleError] = msgspec.field(default_factory=list)

    def note(self, at: Keys, what: str, allowed: str = "") -> None:
        """Note a fault at a path of keys."""
        self.faults.append(RuleError(self.file.where(*at), what, allowed))

    def attempt(self, default: T, do: Callable[..., T], *args: Any) -> T:
        """`do(*args)`, or the default where it raises RuleError (which is noted)."""
        try:
            return do(*args)
        except RuleError as error:
            self.faults.append(error)
            return default

    def fitted(self, shape: type[T], at: Keys = ()) -> T:
        """The part of the file at `at` in a shape."""
        value, faults = fitted(self.file, shape, at)
        self.faults += faults
        return value

    def known(self, at: Keys, name: str, names: Collection[str]) -> str:
        """The `name` at `at`, noted if it is none of the `names`. An empty name was noted before."""
        if name and name not in names:
            self.attempt(None, refuse_name, self.file, at, name, names)
        return name

    def known_keys(self, at: Keys, keys: Iterable[str], names: Collection[str]) -> None:
        """Note each key of the mapping at `at` that is none of the `names`."""
        for key in keys:
            if key not in names:
                hint = nearest(key, names) or f"allowed are {', '.join(names)}"
                self.note((*at, key), f"unknown key {key!r}", hint)

    def once(self, at: Keys, names: Sequence[str]) -> tuple[str, ...]:
        """Names, on one line each; noted where one of them occurs twice."""
        if len(set(names)) < len(names):
            self.note(at, f"{at[-1]} names something twice")
        return tuple(map(one_line, names))

    def ask(self, at: Keys, text: str) -> Ask | None:
        """A question that our parser accepts and polars has not seen yet; None where absent or faulty."""
        return self.attempt(None, parsed, one_line(text), self.declared, self.file.where(*at)) if text else None

    def template(self, at: Keys, text: str) -> Template | None:
        """A text with placeholders, or None where absent or faulty."""
        return self.attempt(None, template, one_line(text), self.declared, self.file.where(*at)) if text else None

    def feature(self, at: Keys, name: str, *, text: bool = False) -> str | None:
        """The name of a declared feature (of type text if `text`), or None where absent."""
        if name and name not in self.declared:
            self.note(at, f"{name!r} is no feature", nearest(name, self.declared) or "a declared feature is needed")
        elif name and text and self.declared[name].dtype != "text":
            self.note(at, f"{name} is no text feature", "the feature that holds the metric's name is needed")
        return name or None

    def features(self, at: Keys, values: Mapping[str, Any]) -> dict[str, FeatureValue]:
        """A test's feature values, each declared and of its type (null: not known)."""
        self.known_keys(at, values, self.declared)
        given = {name: value for name, value in values.items() if name in self.declared}
        for name, value in given.items():
            dtype = self.declared[name].dtype
            fits = isinstance(value, _PYTHON[dtype]) and isinstance(value, bool) == (dtype == "bool")
            if value is not None and not fits:
                hint = f"a value of type {dtype} is needed (YAML: 1.0e-3, not 1e-3)"
                self.note((*at, name), f"{name} is {value!r}", hint)
        return given


def one_line(text: str) -> str:
    """The text with its line breaks as blanks."""
    return " ".join(text.split())
