"""Schemas made from dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest

from loganalyst.report.common.schemaparts import INTEGER, NUMBER, SHARE, TEXT, TIME, listed, object_of, or_null


@dataclass
class Inner:
    n: int


@dataclass
class Outer:
    path: Path
    at: datetime | None
    kind: Literal["a", "b"]
    by_name: Mapping[str, float]
    many: tuple[Inner, ...]
    share: float = 0.0


INNER = {"type": "object", "properties": {"n": INTEGER}, "required": ["n"]}


def test_every_kind_of_field_has_its_schema():
    """A field with a default is required too, because `asdict` always writes it."""
    assert object_of(Outer) == {
        "type": "object",
        "properties": {
            "path": TEXT,
            "at": or_null(TIME),
            "kind": {"enum": ["a", "b"]},
            "by_name": {"type": "object", "additionalProperties": NUMBER},
            "many": listed(INNER),
            "share": NUMBER,
        },
        "required": ["path", "at", "kind", "by_name", "many", "share"],
    }


def test_fields_are_described_replaced_added_and_left_out():
    """A text describes a field; a schema replaces or adds it."""
    found = object_of(Inner, n="A number.", more=SHARE, optional=["more"])

    assert found["properties"] == {"n": {"type": "integer", "description": "A number."}, "more": SHARE}
    assert found["required"] == ["n"]
    assert [*object_of(Outer, leave_out=["path", "at", "many"])["properties"]] == ["kind", "by_name", "share"]


def test_a_typing_error_is_not_hidden():
    """A description of an unknown field, and a type without a schema, are errors."""

    @dataclass
    class Pair:
        pair: tuple[int, str]

    with pytest.raises(KeyError):
        object_of(Inner, m="No such field.")
    with pytest.raises(TypeError, match="no schema"):
        object_of(Pair)
