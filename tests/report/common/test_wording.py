import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.report.common import wording


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "not known"),
        (0, "0"),
        (-0.0, "0"),
        (2.3, "2.3"),
        (2.3149, "2.31"),
        (0.05, "0.05"),
        (0.003, "3.0e-3"),
        (24650, "24,650"),
        (999.9, "1,000"),
        (1234.5, "1,234"),
        (1e6, "1.0e6"),
        (-4e-9, "-4.0e-9"),
        (math.nan, "NaN"),
        (math.inf, "Inf"),
        (-math.inf, "-Inf"),
    ],
)
def test_number(value, said):
    """A value is said with three digits, NaN and infinities by their names, NULL as not known."""
    assert said == wording.number(value)


@given(st.floats(-1e300, 1e300))
def test_number_keeps_the_value(value):
    """What is said reads back as the value, to its three digits (two where it has an exponent)."""
    said = float(wording.number(value).replace(",", ""))

    assert math.isclose(value, said, rel_tol=0.06)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "not known"),
        (math.nan, "not known"),
        (0.2, "under 1 s"),
        (45.4, "45 s"),
        (60, "1 min"),
        (725, "12 min 5 s"),
        (11520, "3 h 12 min"),
        (86400 * 2 + 3600 * 4, "2 d 4 h"),
    ],
)
def test_duration(seconds, said):
    """A span is said in its two largest units."""
    assert said == wording.duration(seconds)


@pytest.mark.parametrize(
    ("share", "said"), [(0.93, "93 %"), (0.999, "over 99 %"), (1.0, "100 %"), (0.001, "under 1 %"), (0.0, "0 %")]
)
def test_percent(share, said):
    """A probability is never rounded to a certainty."""
    assert said == wording.percent(share)


@pytest.mark.parametrize(
    ("n", "said"), [(812, "812 bytes"), (81_234, "81.2 kB"), (1_204_000, "1.2 MB"), (5e9, "5.0 GB")]
)
def test_size(n, said):
    """Bytes are said in the largest fitting unit."""
    assert said == wording.size(int(n))


@pytest.mark.parametrize(
    ("first", "last", "said"), [(1, 900, "1 to 900"), (7, 7, "7"), (None, 5, "5"), (None, None, "not known")]
)
def test_span(first, last, said):
    """A range says what is known of it."""
    assert said == wording.span(first, last)
