"""The JSON Schema of a diagnosis."""

from loganalyst.report.diagnosis.schema import change, schema
from tests.report.schemas import accepts, check


def test_the_published_schema_is_current():
    """docs/schema holds what `loganalyst schema` prints."""
    check(schema(), "diagnosis")


def test_a_change_has_all_its_fields():
    """A value that is not set is null, never left out; the section is one of four."""
    whole = {"key": "lr", "kind": "rate", "section": "config", "before": None, "after": "0.1", "way": "up"}

    assert accepts(change(), whole)
    assert not accepts(change(), {k: v for k, v in whole.items() if k != "before"})
    assert not accepts(change(), {**whole, "section": "elsewhere"})


def test_fields_that_are_younger_than_the_schema_are_optional():
    """A document of the first version still fits."""
    cause = schema()["properties"]["root_causes"]["items"]

    assert set(cause["properties"]) - set(cause["required"]) == {
        "block",
        "broader_fix",
        "decide",
        "ended_run",
        "family",
        "limits",
        "origin",
        "templates",
    }
