"""The JSON Schema of comparison documents."""

from loganalyst.report.comparison.schema import schema
from tests.report.schemas import accepts, check


def test_the_published_schema_is_current():
    """docs/schema holds what `loganalyst schema comparison` prints."""
    check(schema(), "comparison")


def test_an_interval_has_three_numbers():
    """Non-finite numbers are words."""
    interval = schema()["properties"]["scaling"]["properties"]["optimum"]["anyOf"][0]["properties"]["gain"]

    assert accepts(interval, [1, 0.5, "Infinity"])
    assert not accepts(interval, [1, 0.5])
    assert not accepts(interval, [1, 0.5, "large"])
