"""The JSON Schema of verification documents."""

from loganalyst.report.verification.schema import schema
from tests.report.schemas import accepts, check


def test_the_published_schema_is_current():
    """docs/schema holds what `loganalyst schema verification` prints."""
    check(schema(), "verification")


def test_an_answer_may_be_unknown():
    """`applied` and `gone` are true, false or null."""
    check_ = schema()["properties"]["checks"]["items"]["properties"]
    gone = check_["symptoms"]["items"]["properties"]["gone"]

    assert [accepts(kind, value) for kind in (check_["applied"], gone) for value in (True, None, 1)] == [
        True, True, False, True, True, False,
    ]  # fmt: skip
