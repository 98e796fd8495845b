"""`loganalyst schema`."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import emit


class Of(StrEnum):
    """What is described."""

    DIAGNOSIS = "diagnosis"
    VERIFICATION = "verification"
    AUDIT = "audit"
    INSPECTION = "inspection"
    REPLAY = "replay"
    COMPARISON = "comparison"


@command("For other programs", "loganalyst schema", "loganalyst schema audit")
def schema(
    of: Annotated[
        Of,
        typer.Argument(
            metavar="[diagnosis|verification|audit|inspection|replay|comparison]",
            help="What `diagnose`, `verify`, `audit`, `inspect`, `replay` or `compare` prints.",
        ),
    ] = Of.DIAGNOSIS,
) -> None:
    """Print the JSON Schema of what a command prints.

    By default that of `diagnose --format json`.
    """
    from loganalyst.report.audit import schema as auditschema
    from loganalyst.report.comparison import schema as comparisonschema
    from loganalyst.report.diagnosis import schema as diagnosis
    from loganalyst.report.inspection import schema as inspectionschema
    from loganalyst.report.replay import schema as replayschema
    from loganalyst.report.verification import schema as verificationschema

    schemas = {
        Of.DIAGNOSIS: diagnosis,
        Of.VERIFICATION: verificationschema,
        Of.AUDIT: auditschema,
        Of.INSPECTION: inspectionschema,
        Of.REPLAY: replayschema,
        Of.COMPARISON: comparisonschema,
    }
    emit(json.dumps(schemas[of].schema(), indent=2) + "\n")
