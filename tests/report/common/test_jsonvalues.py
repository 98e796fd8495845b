"""Python values as JSON values."""

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from loganalyst.report.common.jsonvalues import dumps, plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (-float("inf"), "-Infinity"),
        (np.float32("inf"), "Infinity"),
        (np.int64(3), 3),
        (True, True),
        (None, None),
        (Path("a/b"), "a/b"),
        ("x\ud800", "x?"),
        ((1, (2.5,)), [1, [2.5]]),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00+00:00"),
        ({1: {"a": float("nan")}}, {"1": {"a": "NaN"}}),
    ],
)
def test_values_become_json_values(value, expected):
    """Numbers of numpy, paths, times, tuples and half surrogate pairs too."""
    assert plain(value) == expected
    assert json.loads(dumps(plain(value))) == expected


def test_the_text_is_ascii_and_strict():
    """A non-finite number that was not made plain is an error."""
    assert dumps({"a": "é"}, None) == '{"a": "\\u00e9"}'
    with pytest.raises(ValueError, match="JSON"):
        dumps(float("nan"))
