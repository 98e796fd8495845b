"""The JSON Schema of audit documents."""

from loganalyst.report.audit.schema import schema
from tests.report.schemas import accepts, check


def test_the_published_schema_is_current():
    """docs/schema holds what `loganalyst schema audit` prints."""
    check(schema(), "audit")


def test_counts_are_by_status():
    """An unknown status is refused."""
    counts = schema()["properties"]["counts"]

    assert accepts(counts, {"healthy": 3})
    assert not accepts(counts, {"fine": 3})
