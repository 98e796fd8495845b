"""Parts of JSON Schemas. Most of our JSON is `asdict` of a dataclass, and `object_of` makes its schema from that."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from loganalyst.model import SettingsFile

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
BOOLEAN: Json = {"type": "boolean"}
NULL: Json = {"type": "null"}
TIME: Json = {"type": "string", "format": "date-time"}
SHARE: Json = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER: Json = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
SIMPLE: dict[Any, Json] = {
    str: TEXT, Path: TEXT, int: INTEGER, bool: BOOLEAN, float: NUMBER, datetime: TIME, NoneType: NULL,
}  # fmt: skip
NONFINITE = 'Non-finite numbers are the text "NaN", "Infinity" or "-Infinity"; null means not known.'


def document(schema_id: str, title: str, body: Json, description: str = NONFINITE) -> Json:
    """The schema of a whole document."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "$id": schema_id, "title": title, "description": description, **body}


def object_of(
    dataclass: type, /, *, optional: Sequence[str] = (), leave_out: Sequence[str] = (), **described: Json | str
) -> Json:
    """The object that `asdict` makes of a dataclass.

    `described` gives a field a description (text), or replaces its schema or adds a field (a schema). `optional` names
    fields that are younger than the schema, `leave_out` fields that the JSON does not have.

    >>> from loganalyst.model import Place
    >>> schema = object_of(Place, leave_out=["key", "value"], line="From 1.")
    >>> schema["properties"], schema["required"]
    ({'file': {'type': 'string'}, 'line': {'type': 'integer', 'description': 'From 1.'}}, ['file', 'line'])
    """
    hints = get_type_hints(dataclass)
    names = [f.name for f in fields(dataclass) if f.name not in leave_out]
    properties = {n: d if isinstance(d := described.get(n), dict) else _kind(hints[n]) for n in names}
    for name, value in described.items():
        properties[name] = value if isinstance(value, dict) else {**properties[name], "description": value}
    return object_(optional, **properties)


def _kind(hint: Any) -> Json:
    """The schema of a field's type."""
    if hint in SIMPLE:
        return SIMPLE[hint]
    if is_dataclass(hint) and isinstance(hint, type):
        return object_of(hint)
    arguments = get_args(hint)
    match get_origin(hint):
        case origin if origin is Literal:
            return one_of(hint)
        case origin if origin in (Union, UnionType):
            return {"anyOf": [_kind(argument) for argument in arguments]}
        case origin if origin is Mapping:
            return by_name(_kind(arguments[1]))
        case origin if origin is Sequence or (origin is tuple and arguments[1:] == (...,)):
            return listed(_kind(arguments[0]))
    raise TypeError(f"{hint}: no schema; give the field's own")


def object_(optional: Sequence[str] = (), /, **fields: Json) -> Json:
    """An object with these fields, required unless named `optional`."""
    return {"type": "object", "properties": fields, "required": [f for f in fields if f not in optional]}


def listed(item: Json, description: str = "", most: int | None = None) -> Json:
    """An array of at most `most` items."""
    longest = {} if most is None else {"maxItems": most}
    return {"type": "array", "items": item, **_described(description), **longest}


def by_name(value: Json, description: str = "") -> Json:
    """An object with any keys."""
    return {"type": "object", **_described(description), "additionalProperties": value}


def one_of(literal: Any) -> Json:
    """The values of a Literal."""
    return {"enum": list(get_args(literal))}


def or_null(kind: Json, description: str = "") -> Json:
    """Of a kind, or null where it is not known."""
    return {"anyOf": [kind, NULL], **_described(description)}


def share(description: str) -> Json:
    """A share or probability."""
    return {**SHARE, "description": description}


def _described(description: str) -> Json:
    return {"description": description} if description else {}


# Fields that several documents have

LEFT_OUT = by_name(INTEGER, "In a shortened object (`loganalyst mcp`): how many entries each list lost, by its place.")
ORIGIN: Json = {
    **TEXT,
    "description": "`ours`: it comes from our catalogue alone. Otherwise the file of the user's rule or pattern.",
}
QUOTED: Json = {
    "type": "object",
    "description": "In an answer to an agent (`loganalyst mcp`): the fields that quote a run's logs and files.",
    "properties": {"note": TEXT, "fields": listed(TEXT)},
}
SETTINGS: dict[str, Json] = {
    "settings_obeyed": listed(
        object_of(SettingsFile, optional=("runs",), runs=INTEGER),
        "Each loganalyst.yaml and rules folder that is obeyed, and how many entries of each kind it has.",
    ),
    "settings_ignored": listed(
        object_(("runs",), file=TEXT, why=TEXT, runs=INTEGER),
        "Each loganalyst.yaml that is not obeyed, because it came with a run.",
    ),
}
