"""The schema of JSON lines."""

import math

import msgspec
import pytest

from loganalyst.sources.tables import jsonkinds
from loganalyst.sources.tables.jsonkinds import NotUniformError, absent, columns, kind_of, merged, struct


def test_a_schema_of_two_lines():
    """Keys of both, numbers and texts, lists of the longer length."""
    kind = merged(kind_of({"step": 1, "loss": {"a": 0.5}, "x": [1]}), kind_of({"step": 2, "mode": "val", "x": [1, 2]}))
    assert isinstance(kind, jsonkinds.Object)
    rows = [
        msgspec.json.decode(line, type=struct(kind))
        for line in (b'{"step": 1, "loss": {"a": 0.5}, "x": [3]}', b'{"step": 2, "mode": "val", "x": [4, 5]}')
    ]
    found = dict(columns(kind, rows))

    assert list(found) == ["step", "loss/a", "x/0", "x/1", "mode"]
    assert list(found["step"]) == [1.0, 2.0]
    assert found["mode"] == [None, "val"]
    assert absent(found["x/1"]).tolist() == [True, False]  # type: ignore[arg-type]
    assert found["loss/a"][0] == 0.5


@pytest.mark.parametrize("record", [{"image": {"_type": "image"}}, {"config": 3}, {"x": [0] * 65}])
def test_values_without_a_schema(record):
    """Media, settings that are not an object, and long lists."""
    with pytest.raises(NotUniformError):
        kind_of(record)


def test_kinds_that_do_not_merge():
    """A number and an object have no common type; null fits everything."""
    with pytest.raises(NotUniformError):
        merged(kind_of({"a": 1}), kind_of({"a": {"b": 1}}))
    assert merged(kind_of({"a": None}), kind_of({"a": {"b": 1}})) == kind_of({"a": {"b": 1}})


def test_a_text_column_with_numbers():
    """Its lines are left to the parser."""
    kind = merged(kind_of({"mode": "val"}), kind_of({"mode": 1.0}))
    assert isinstance(kind, jsonkinds.Object)
    with pytest.raises(NotUniformError):
        dict(columns(kind, [struct(kind)(1.0)]))
    assert math.isnan(jsonkinds.ABSENT)
