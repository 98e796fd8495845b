"""The JSON values that W&B logs."""

import math

import pytest

from loganalyst.sources.wandb import jsonitems


def test_parsed():
    """Values that are too long become an object; two values in one are an error."""
    assert jsonitems.parsed([b"1", b'"x"']) == [1, "x"]
    assert jsonitems.parsed([b"0" * (jsonitems.MAX_BYTES + 1)]) == [{"_type": "value too long"}]
    with pytest.raises(ValueError, match="not one JSON value"):
        jsonitems.parsed([b"1, 2"])


def test_collect():
    """Nested numbers get dotted names; typed objects and other values are kept apart."""
    found, objects, lost = list[tuple[str, float]](), list[tuple[str, object]](), list[tuple[str, str]]()
    value = {"a": 1, "b": {"c": True, "d": "text"}, "e": None, "f": {"_type": "histogram"}}
    jsonitems.collect("x", value, found, objects, lost)

    assert found == [("x.a", 1.0), ("x.b.c", 1.0)]
    assert objects == [("x.f", {"_type": "histogram"})]
    assert lost == [("text", "x.b.d")]


@pytest.mark.parametrize(
    ("value", "number"), [(1, 1.0), (10**400, math.inf), ("-Infinity", -math.inf), ("1.5", None), ([1], None)]
)
def test_leaf(value, number):
    """Numbers, too large integers, and non-finite numbers as text."""
    assert jsonitems.leaf(value) == number


def test_kinds():
    """Null and empty lists are not reported."""
    assert [jsonitems.unused_kind(value) for value in ({"_type": "image"}, {}, None, [], [1], "x")] == [
        "image",
        "object",
        "",
        "",
        "list",
        "text",
    ]


def test_rebuilt():
    """From nested keys; a part below a value that is not an object is dropped."""
    parts = [(0, ("_type",)), (1, ("a", "b")), (2, ("_type", "x"))]

    assert jsonitems.rebuilt(parts, ["histogram", 5, 6]) == {"_type": "histogram", "a": {"b": 5}}


def test_histogram_row():
    """Bins, or their minimum and size; other objects have no row."""
    packed = {"_type": "histogram", "values": [1, 3], "packedBins": {"min": 0, "size": 1, "count": 2}}
    row = jsonitems.histogram_row(packed)

    assert row is not None
    assert row == jsonitems.histogram_row({"_type": "histogram", "values": [1, 3], "bins": [0, 1, 2]})
    assert row["count"] == 4
    assert jsonitems.histogram_row({"_type": "histogram", "values": [1, 3], "bins": [0, 1]}) is None
    assert jsonitems.histogram_row({"_type": "image"}) is None


def test_summary():
    """Kinds with their numbers, and up to three names."""
    unused = {("text", name): 1 for name in "abcd"} | {("image", "i"): 2}

    assert jsonitems.unused_summary(unused) == ("6 logged values are not numbers: 2 image (i), 4 text (a, b, c, …)")
