"""Nested data as dotted keys."""

import math
from pathlib import Path
from typing import Any

import pytest

from loganalyst.sources.files.flatten import TooLargeError, config_of, config_table, leaves, number, shown


def test_leaves() -> None:
    data = {"a": {"b": [1, {"c": None}]}, "d": {}, "e": [], 3: True}

    assert list(leaves(data)) == [("a.b.0", 1), ("a.b.1.c", None), ("d", "{}"), ("e", "[]"), ("3", True)]
    assert list(leaves({"a": {"b": 1}}, sep="/")) == [("a/b", 1)]
    assert list(leaves(5)) == [("", 5)]


def test_bounds() -> None:
    deep: dict[str, Any] = {}
    for _ in range(50):
        deep = {"a": deep}
    shared: list[Any] = [1]
    for _ in range(30):
        shared = [shared, shared]  # a billion values

    for data in (deep, shared):
        with pytest.raises(TooLargeError):
            list(leaves(data))
    assert len(list(leaves([0] * 3, limit=3))) == 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1.0), ("1e-4", 1e-4), ("x", None), (True, None), (None, None), (10**400, math.inf), (-(10**400), -math.inf)],
)
def test_number(value: Any, expected: float | None) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(("value", "text"), [(None, "null"), (True, "true"), (0.1, "0.1"), ("a", "a")])
def test_shown(value: Any, text: str) -> None:
    assert shown(value) == text


def test_an_integer_with_too_many_digits_is_shown_in_hexadecimal() -> None:
    assert shown(1 << 20_000) == "0x1" + "0" * 5000


def test_config_rows() -> None:
    assert config_table([("lr", 0.1), ("name", "x")], "config.yaml", prefix="a.").rows() == [
        ("a.lr", "0.1", 0.1, "config.yaml"),
        ("a.name", "x", None, "config.yaml"),
    ]
    assert config_of({"a": {"b": 2}}, Path("run/c.json")).config.rows() == [("a.b", "2", 2.0, "c.json")]


def test_refused_settings_are_a_gap() -> None:
    found = config_of([0] * 20_001, Path("run/c.json"))

    assert found.config.height == 0
    assert found.gaps["why"].to_list() == ["config refused: more than 20,000 values (a YAML alias bomb?)"]
