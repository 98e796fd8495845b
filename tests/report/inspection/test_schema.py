"""The JSON Schema of inspection documents."""

from loganalyst.report.inspection.schema import schema
from tests.report.schemas import accepts, check


def test_the_published_schema_is_current():
    """docs/schema holds what `loganalyst schema inspection` prints."""
    check(schema(), "inspection")


def test_a_tensor_without_finite_values_has_nulls():
    """Counts are always known."""
    fields = schema()["properties"]["checkpoints"]["items"]["properties"]["tensors"]["items"]["properties"]

    assert accepts(fields["min"], None)
    assert not accepts(fields["count"], None)
