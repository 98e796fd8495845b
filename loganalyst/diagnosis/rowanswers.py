"""Answers questions about one run in plain Python, as polars answers them about many (`rulesql`).

For one row polars plans a thousand questions, which takes many times longer than to answer them.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

import polars as pl

from loganalyst.model import FeatureValue

Parts = list[Any]
Row = Mapping[str, FeatureValue]


def holds(parts: Parts, row: Row) -> bool | None:
    """The answer of `Ask.parts` for a run: a feature without a value is not known, and none may be NaN.

    >>> from loganalyst.diagnosis.rulesql import ask
    >>> from loganalyst.model import Feature
    >>> question = ask("x > 1 OR y > 1", {n: Feature(n, "float", "", "", "loss") for n in "xy"})
    >>> [holds(question.parts, row) for row in ({"x": 2.0}, {"x": 0.5}, {"x": 0.5, "y": 1.0})]
    [True, None, False]
    """
    answer: bool | None = _value(parts, row)
    return answer


def _value(parts: Parts, row: Row) -> Any:
    return _HOW[parts[0]](parts, row)


def _joined(*, decisive: bool) -> Callable[[Parts, Row], bool | None]:
    """The answer of parts of which one that is `decisive` decides: True for OR, False for AND."""

    def value(parts: Parts, row: Row) -> bool | None:
        answer: bool | None = not decisive
        for part in parts[1:]:
            found: bool | None = _HOW[part[0]](part, row)
            if found is decisive:
                return decisive
            if found is None:
                answer = None
        return answer

    return value


def _of_one(function: Callable[[Any], Any]) -> Callable[[Parts, Row], Any]:
    """The value of a function of one part; not known where the part is not."""

    def value(parts: Parts, row: Row) -> Any:
        found = _value(parts[1], row)
        return None if found is None else function(found)

    return value


def _of_two(function: Callable[[Any, Any], Any]) -> Callable[[Parts, Row], Any]:
    """The value of a function of two parts; not known where one of them is not."""

    def value(parts: Parts, row: Row) -> Any:
        left = _value(parts[1], row)
        right = None if left is None else _value(parts[2], row)
        return None if right is None else function(left, right)

    return value


def _of_text(function: Callable[[str, Any], bool]) -> Callable[[Parts, Row], Any]:
    """The answer of a function of one part and a constant; not known where the part is not."""

    def value(parts: Parts, row: Row) -> Any:
        found = _value(parts[1], row)
        return None if found is None else function(found, parts[2])

    return value


@lru_cache(4096)
def _matches(text: str, regex: str) -> bool:
    """Whether polars finds the regex: Python's would not take linear time."""
    return bool(pl.Series([text]).str.contains(regex).item())


def _is_like(text: str, pattern: str) -> bool:
    """SQL's LIKE in linear time: each piece between two `%` is taken where it is first found, the last at the end."""
    (_, first), *pieces = _pieces(pattern)
    begin = first.match(text)
    if begin is None or not pieces:
        return begin is not None and begin.end() == len(text)
    at, (length, last) = begin.end(), pieces.pop()
    for _, piece in pieces:
        found = piece.search(text, at)
        if found is None:
            return False
        at = found.end()
    return len(text) - length >= at and last.match(text, len(text) - length) is not None


@cache
def _pieces(pattern: str) -> list[tuple[int, re.Pattern[str]]]:
    """The length and the regex of each piece."""
    pieces = ((len(p), "".join("." if c == "_" else re.escape(c) for c in p)) for p in pattern.split("%"))
    return [(length, re.compile(regex, re.DOTALL)) for length, regex in pieces]


_HOW: Mapping[str, Callable[[Parts, Row], Any]] = {
    "AND": _joined(decisive=False),
    "OR": _joined(decisive=True),
    "NOT": _of_one(operator.not_),
    "IN": _of_text(lambda value, values: value in values),
    "LIKE": _of_text(_is_like),
    "~": _of_text(_matches),
    "=": _of_two(operator.eq),
    "<>": _of_two(operator.ne),
    "!=": _of_two(operator.ne),
    "<": _of_two(operator.lt),
    "<=": _of_two(operator.le),
    ">": _of_two(operator.gt),
    ">=": _of_two(operator.ge),
    "+": _of_two(operator.add),
    "-": _of_two(operator.sub),
    "*": _of_two(operator.mul),
    "ABS": _of_one(abs),
    "float": _of_one(float),
    "known": _of_one(lambda number: None if math.isnan(number) else number),
    "feature": lambda parts, row: row.get(parts[1]),
    "value": lambda parts, _: parts[1],
}
