"""The schema of JSON lines, learned from some of them, as a msgspec type that decodes the others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import zip_longest
from operator import attrgetter
from typing import Annotated, Any, Union

import msgspec
import numpy as np
import numpy.typing as npt

from loganalyst.sources.tables.jsonvalues import MAX_DEPTH, MAX_LIST, MEDIA, is_text_column, number_in

Floats = npt.NDArray[np.float64]
Column = Floats | list[str | None]
Kind = Union["Scalar", "Array", "Object"]

_ABSENT_BITS = 0x7FF8_0000_0000_0ABC  # a NaN with a payload that no JSON text is parsed to
ABSENT = float(np.array(_ABSENT_BITS).view(np.float64))
_NOT_MEDIA = Annotated[str, msgspec.Meta(pattern=f"^(?!{MEDIA}$)")]


class NotUniformError(ValueError):
    """Values that no such schema can describe; their lines are left to the parser."""


@dataclass(frozen=True)
class Scalar:
    """All types seen: numbers (float), texts, booleans, nulls. Settings (Raw) are not decoded."""

    types: frozenset[Any]
    size = 1


class Array(msgspec.Struct, frozen=True):
    """A list of up to `length` items (a power of two, or 0), each of kind `items`."""

    items: Kind
    length: int

    @property
    def size(self) -> int:
        """How many cells of a table it fills."""
        return max(self.length * self.items.size, 1)


class Object(msgspec.Struct, frozen=True):
    """All keys seen, each of which may be absent."""

    fields: tuple[tuple[str, Kind], ...] = ()

    @property
    def size(self) -> int:
        """How many cells of a table it fills."""
        return 1 + sum(kind.size for _, kind in self.fields)


_NUMBER = Scalar(frozenset({float}))
_SETTINGS = Scalar(frozenset({msgspec.Raw}))
NULL = Scalar(frozenset({type(None)}))


def kind_of(record: Mapping[str, Any]) -> Object:
    """The kind of an object of metrics and, under `config`, settings. NotUniformError where it contains media."""
    if "config" in record and not (record["config"] and isinstance(record["config"], dict)):
        raise NotUniformError
    return Object(tuple((key, _SETTINGS if key == "config" else _kind(value, 1)) for key, value in record.items()))


def _kind(value: Any, depth: int) -> Kind:
    if isinstance(value, dict | list) and (depth > MAX_DEPTH or MEDIA in value):
        raise NotUniformError
    if isinstance(value, dict):
        return Object(tuple((key, _kind(inner, depth + 1)) for key, inner in value.items()))
    if isinstance(value, list):
        if len(value) > MAX_LIST:
            raise NotUniformError
        kinds = [_kind(inner, depth + 1) for inner in value]
        return Array(reduce(merged, kinds) if kinds else NULL, 1 << (len(value) - 1).bit_length() if kinds else 0)
    return Scalar(frozenset({float if type(value) is int else type(value)}))


def merged(one: Kind, other: Kind) -> Kind:
    """The kind that covers both. NotUniformError where msgspec has no such type."""
    match one, other:
        case Scalar(), Scalar():
            return Scalar(one.types | other.types)
        case Array(), Array():
            return Array(merged(one.items, other.items), max(one.length, other.length))
        case Object(), Object():
            fields = dict(one.fields)
            for key, kind in other.fields:
                fields[key] = merged(fields[key], kind) if key in fields else kind
            return Object(tuple(fields.items()))
    if NULL in (one, other):
        return one if other == NULL else other
    raise NotUniformError


@lru_cache(256)
def struct(kind: Object) -> type[msgspec.Struct]:
    """The msgspec type of its rows. NotUniformError where a key cannot be the name of a field."""
    fields = [
        (f"f{i}", _type(inner), msgspec.field(name=key, default=_default(inner)))
        for i, (key, inner) in enumerate(kind.fields)
    ]
    try:
        return msgspec.defstruct("Row", fields, gc=False, forbid_unknown_fields=True)
    except ValueError as error:  # quotes, backslashes, half a surrogate pair
        raise NotUniformError from error


def _type(kind: Kind, text: Any = str) -> Any:
    match kind:
        case Object():
            return struct(kind) | None
        case Array():
            return Annotated[list[_type(kind.items, _NOT_MEDIA)], msgspec.Meta(max_length=kind.length)] | None  # type: ignore[misc]
        case Scalar():
            return Union[tuple(text if t is str else t for t in sorted(kind.types, key=repr))]  # noqa: UP007


def _default(kind: Kind) -> Any:
    if kind == _SETTINGS:
        return msgspec.Raw(b"")
    return ABSENT if kind == _NUMBER else None


def columns(kind: Object, rows: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, Column]]:
    """The columns of some rows: numbers (ABSENT: none), and the texts of columns that `is_text_column` names.

    NotUniformError where such a column also holds other values.
    """
    for i, (key, inner) in enumerate(kind.fields):
        yield from _column(inner, map(attrgetter(f"f{i}"), rows), len(rows), prefix + key)


def _column(kind: Kind, values: Iterable[Any], height: int, name: str) -> Iterator[tuple[str, Column]]:
    match kind:
        case Object():
            blank = struct(kind)()
            yield from columns(kind, [row or blank for row in values], f"{name}/")
        case Array():
            lists = [found or () for found in values]
            for i, column in enumerate(zip_longest(*lists, fillvalue=_default(kind.items))):
                yield from _column(kind.items, column, height, f"{name}/{i}")
        case Scalar():
            yield from _leaf(kind.types, values, height, name)


def _leaf(types: frozenset[Any], values: Iterable[Any], height: int, name: str) -> Iterator[tuple[str, Column]]:
    if types == _NUMBER.types:
        yield name, np.fromiter(values, np.float64, height)
    elif str in types and is_text_column(name):
        if types - {str, type(None)}:
            raise NotUniformError
        yield name, list(values)
    elif str in types:
        cells = list(values)
        numbers = {text: n for text in {*cells} if isinstance(text, str) and (n := number_in(text)) is not None}
        if numbers or float in types:
            yield name, np.array([c if type(c) is float else numbers.get(c, ABSENT) for c in cells])
    elif float in types:
        yield name, np.array([c if type(c) is float else ABSENT for c in values])


def absent(numbers: Floats) -> npt.NDArray[np.bool_]:
    """Which cells of a column have no number."""
    found: npt.NDArray[np.bool_] = numbers.view(np.int64) == _ABSENT_BITS
    return found
