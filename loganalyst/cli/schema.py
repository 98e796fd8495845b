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


@app.command()
def schema(
    of: Annotated[
        Of, typer.Argument(metavar="[diagnosis|verification]", help="What `diagnose` or `verify` prints.")
    ] = Of.DIAGNOSIS,
) -> None:
    """Print the JSON Schema of `diagnose --format json`, or of `verify --format json`."""
    from loganalyst.report import schema as diagnosis
    from loganalyst.report import verificationschema as verification

    found = diagnosis.schema() if of is Of.DIAGNOSIS else verification.schema()
    emit(json.dumps(found, indent=2) + "\n")
