"""Typed values from YAML. A file's shape is declared as msgspec structs; every fault is reported with its line."""

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import date
from pathlib import Path
from sys import float_info
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta

from loganalyst.errors import RuleError, nearest
from loganalyst.rulefiles.folders import rules_dir
from loganalyst.rulefiles.loading import Keys, RuleFile, load

T = TypeVar("T")


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping with fixed keys. A field with a default may be absent or null.

    No field may be a union of a bounded text (such as `Text`) and a list: msgspec 0.22 frees such a type twice.
    """


def needed(what: str, **bounds: Any) -> Meta:
    """The bounds of a field, and how a message names what is needed."""
    return Meta(extra={"needed": what}, **bounds)


Text = Annotated[str, needed("a text is needed (in quotes where it looks like something else)", pattern=r"\S")]
Texts = Annotated[tuple[str, ...], needed("a list of texts is needed", min_length=1)]
Positive = Annotated[float, needed("a number above 0", gt=0)]
Share = Annotated[float, needed("a share above 0, at most 1", gt=0, le=1)]
Finite = Annotated[float, needed("a number is needed", ge=-float_info.max, le=float_info.max)]

_NEEDED: dict[Any, str] = {
    str: "a text is needed", bool: "true or false is needed", date: "a date such as 2027-01-31",
    int: "a number is needed", float: "a number is needed", dict: "a mapping is needed",
    list: "a list is needed", tuple: "a list is needed", frozenset: "a list is needed",
}  # fmt: skip
_NEUTRAL: dict[Any, Any] = {str: "", bool: False, float: math.nan, int: 0}
_SEQUENCES = (list, tuple, frozenset)


def ours(name: str, shape: type[T], folder: Path | None = None) -> T:
    """A file of our catalogue (or of another `folder`) as typed values. Raises RuleError for the first fault."""
    return typed(load((folder or rules_dir()) / name), shape)


def typed(file: RuleFile, shape: type[T], at: Keys = ()) -> T:
    """A file, or its part at `at`, as typed values. Raises RuleError for the first fault."""
    value, faults = fitted(file, shape, at)
    for fault in faults:
        raise fault
    return value


def fitted(file: RuleFile, shape: type[T], at: Keys = ()) -> tuple[T, list[RuleError]]:
    """A file, or its part at `at`, as typed values, and all its faults. A neutral value replaces each faulty one."""
    data = file.get(at)
    with suppress(msgspec.ValidationError):
        return msgspec.convert(data, shape), []
    builder = _Builder(file)
    return builder.build(shape, data, at), builder.faults


def check_names(file: RuleFile, at: Keys, names: Iterable[object], known: Collection[str]) -> None:
    """Raises RuleError for the first of the `names`, listed at `at`, that is not `known`."""
    for i, name in enumerate(names):
        if name not in known:
            refuse_name(file, (*at, i), name, known)


def refuse_name(file: RuleFile, at: Keys, name: object, known: Collection[str]) -> NoReturn:
    """Raises RuleError for a name that is not `known`, with the nearest that is."""
    raise RuleError(file.where(*at), f"{_subject(at)} is {name!r}", _hint(name, known))


def _hint(name: object, known: Collection[str]) -> str:
    return nearest(str(name), known) or f"allowed are {', '.join(known)}"


def _subject(at: Keys) -> str:
    """The node at `at` in words: its key, or the key of the list that it is in."""
    key = next((key for key in reversed(at) if isinstance(key, str)), "the file")
    return f"an entry of {key}" if at and isinstance(at[-1], int) else key


class _Builder(msgspec.Struct):
    """Builds typed values from data that do not fit, part by part, and notes what does not fit."""

    file: RuleFile
    faults: list[RuleError] = msgspec.field(default_factory=list)

    def build(self, kind: Any, value: Any, at: Keys) -> Any:
        with suppress(msgspec.ValidationError):
            return msgspec.convert(value, kind)
        kind, words = _plain(kind, value)
        origin = get_origin(kind) or kind
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.struct(kind, value, at)
        if origin is dict and isinstance(value, dict):
            return self.mapping(kind, value, at)
        if origin in _SEQUENCES and isinstance(value, list) and value:
            return origin(self.build(get_args(kind)[0], item, (*at, i)) for i, item in enumerate(value))
        self.note(at, f"{_subject(at)} {_found(origin, value)}", words)
        return _neutral(kind)

    def struct(self, kind: type[msgspec.Struct], value: Any, at: Keys) -> Any:
        fields = msgspec.structs.fields(kind)
        keys = [f.encode_name for f in fields]
        if not isinstance(value, dict):
            self.note(at, f"found {type(value).__name__}", f"a mapping with {', '.join(keys)} is needed")
            return _neutral(kind)
        for key in [key for key in value if key not in keys]:
            self.note((*at, key), f"unknown key {key!r}", _hint(key, keys))
        required = [f.encode_name for f in fields if f.required]
        if missing := [key for key in required if key not in value]:
            self.note(at, f"missing {', '.join(missing)}", f"required are {', '.join(required)}")
        given = {f.name: (f, value.get(f.encode_name, UNSET)) for f in fields}
        absent = {name for name, (f, v) in given.items() if v is UNSET or (v is None and not f.required)}
        known = {n: self.build(f.type, v, (*at, f.encode_name)) for n, (f, v) in given.items() if n not in absent}
        return kind(**known, **{f.name: _neutral(f.type) for f in fields if f.required and f.name in absent})

    def mapping(self, kind: Any, value: dict[Any, Any], at: Keys) -> dict[str, Any]:
        key_kind, value_kind = get_args(kind)
        allowed = get_args(key_kind)  # of a Literal; empty for str
        for key in value:
            if allowed and key not in allowed:
                self.note((*at, key), f"unknown key {key!r}", _hint(key, allowed))
        # a key that looks like a number or a date is a name as well
        return {str(k): self.build(value_kind, v, (*at, k)) for k, v in value.items() if not allowed or k in allowed}

    def note(self, at: Keys, what: str, allowed: str) -> None:
        self.faults.append(RuleError(self.file.where(*at), what, allowed))


def _plain(kind: Any, value: Any) -> tuple[Any, str]:
    """The bare kind that `value` should be of, without its bounds, and what is needed in words."""
    words = ""
    while True:
        if get_origin(kind) is Annotated:
            kind, *metas = get_args(kind)
            words = next((m.extra["needed"] for m in metas if m.extra), words)
        elif get_origin(kind) is Union or type(kind).__name__ == "UnionType":
            kind = _member([k for k in get_args(kind) if k is not type(None)], value)
        else:
            break
    if get_origin(kind) is Literal and not words:
        words = _hint(value, get_args(kind))
    return kind, words or _NEEDED.get(get_origin(kind) or kind, "")


def _member(kinds: list[Any], value: Any) -> Any:
    """The member of a union that fits the container that `value` is, else the first."""
    origins = {get_origin(_plain(kind, value)[0]): kind for kind in kinds}
    wanted = (dict,) if isinstance(value, dict) else _SEQUENCES if isinstance(value, list) else ()
    return next((origins[origin] for origin in wanted if origin in origins), kinds[0])


def _found(origin: Any, value: Any) -> str:
    if origin in (*_SEQUENCES, dict) and value != []:
        return f"is a {type(value).__name__}"
    return "is empty" if value == [] and origin in _SEQUENCES else f"is {value!r}"


def _neutral(kind: Any) -> Any:
    """A value of a kind that no check objects to, in place of a faulty or missing one."""
    kind, _ = _plain(kind, None)
    origin = get_origin(kind) or kind
    if origin is Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind(**{f.name: _neutral(f.type) for f in msgspec.structs.fields(kind) if f.required})
    return _NEUTRAL[origin] if origin in _NEUTRAL else origin() if origin in (*_SEQUENCES, dict) else None
