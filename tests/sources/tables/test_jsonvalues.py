"""The scalars of a JSON object."""

import pytest

from loganalyst.sources.tables.jsonvalues import is_text_column, number_in, values


def test_values():
    """Nested names are joined; media and long lists are left out and named."""
    left: list[str] = []
    record = {"a": {"b": 1, "c": [2, 3]}, "image": {"_type": "image-file"}, "many": [0] * 65}

    assert list(values(record, left=left)) == [("a/b", 1), ("a/c/0", 2), ("a/c/1", 3)]
    assert left == ["image", "many"]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0), ("0.5", 0.5), ("-1.5e-3", -0.0015), ("42", None), ("x", None), (True, None),
        ("1:02:03", 3723.0), ("1 day, 0:00:02.5", 86402.5), ("10:30", None), ("1:75:00", None),
    ],
)  # fmt: skip
def test_number_in(value, number):
    """A whole number written as text counts as a name."""
    assert number_in(value) == number


def test_text_columns():
    """Times, parts of the data and metric names."""
    assert [is_text_column(name) for name in ("timestamp", "Mode", "metric", "note")] == [True, True, True, False]
