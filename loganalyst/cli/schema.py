"""`loganalyst schema`."""

import json
from typing import TYPE_CHECKING

from loganalyst.cli.app import app
from loganalyst.cli.common import (
    emit,
)

if TYPE_CHECKING:
    pass


@app.command()
def schema() -> None:
    """Print the JSON Schema of `diagnose --format json`."""
    from loganalyst.report.schema import schema as diagnosis_schema

    emit(json.dumps(diagnosis_schema(), indent=2) + "\n")
