"""Bare NaN and Infinity in lines of JSON."""

import json
import math

import numpy as np

from loganalyst.sources.tables import jsonnonfinite


def test_placeholders():
    """Bare words become numbers of the same length; words in texts stay. Each line's words are counted."""
    data = b'{"x": NaN, "y": -Infinity}\n{"x": 1, "s": "NaN"}\n'
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    found, counts = jsonnonfinite.with_placeholders(data, ends)

    assert len(found) == len(data)
    assert counts.tolist() == [2, 0]
    assert json.loads(found.splitlines()[0]) == {"x": 7e9, "y": -8.765e-7}
    assert found.splitlines()[1] == data.splitlines()[1]


def test_restore_values():
    """Placeholders of both signs become NaN and infinity again."""
    column = np.array([7e9, 1.0, -8.765e-7, 8.765e-7])

    assert jsonnonfinite.restore_values(column) == 3
    assert math.isnan(column[0])
    assert column[1:].tolist() == [1.0, -math.inf, math.inf]


def test_contains_words():
    """Also inside texts, since this check only saves time."""
    assert jsonnonfinite.contains_words(b'{"x": NaN}')
    assert jsonnonfinite.contains_words(b'{"x": "Infinity"}')
    assert not jsonnonfinite.contains_words(b'{"x": 1}')
