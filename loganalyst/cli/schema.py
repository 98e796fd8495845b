"""`loganalyst schema`."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from loganalyst.cli.app import app
from loganalyst.cli.common import emit


class Of(StrEnum):
    """What is described."""

    DIAGNOSIS = "diagnosis"
    VERIFICATION = "verification"
    INSPECTION = "inspection"


@app.command()
def schema(
    of: Annotated[
        Of,
        typer.Argument(
            metavar="[diagnosis|verification|inspection]", help="What `diagnose`, `verify` or `inspect` prints."
        ),
    ] = Of.DIAGNOSIS,
) -> None:
    """Print the JSON Schema of `diagnose --format json`, or that of `verify` or `inspect`."""
    from loganalyst.report import inspectionschema, verificationschema
    from loganalyst.report import schema as diagnosis

    known = {Of.DIAGNOSIS: diagnosis, Of.VERIFICATION: verificationschema, Of.INSPECTION: inspectionschema}
    emit(json.dumps(known[of].schema(), indent=2) + "\n")
