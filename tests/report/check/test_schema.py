"""The JSON Schema of checked settings."""

import loganalyst as la
from loganalyst.report.check.schema import schema
from loganalyst.report.check.screen import data
from tests.report.schemas import accepts, check


def test_the_published_schema_is_current():
    """docs/schema holds what `loganalyst schema check` prints."""
    check(schema(), "check")


def test_a_check_fits_its_schema(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("optimizer: adamw\nlr: .nan\neps: 1.0e-16\nfp16: true\nbf16: true\n")
    found = data(la.check(file))

    assert accepts(schema(), found)
    assert not accepts(schema(), {**found, "wrong": None})
