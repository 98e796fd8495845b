"""The JSON Schema of replay documents."""

from loganalyst.report.replay.schema import schema
from tests.report.schemas import accepts, check


def test_the_published_schema_is_current():
    """docs/schema holds what `loganalyst schema replay` prints."""
    check(schema(), "replay")


def test_a_confidence_is_a_share():
    """Before and after lie between 0 and 1; the verdict is one of three."""
    fields = schema()["properties"]["hypotheses"]["items"]["properties"]

    assert (accepts(fields["after"], 1), accepts(fields["after"], 1.5)) == (True, False)
    assert (accepts(fields["verdict"], "open"), accepts(fields["verdict"], "perhaps")) == (True, False)
