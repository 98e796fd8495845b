"""`loganalyst schema`."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from loganalyst.cli.app import command
from loganalyst.cli.common import emit


class Document(StrEnum):
    """Documents with a schema."""

    DIAGNOSIS = "diagnosis"
    VERIFICATION = "verification"
    AUDIT = "audit"
    INSPECTION = "inspection"
    REPLAY = "replay"
    COMPARISON = "comparison"
    CHECK = "check"


@command("For other programs", "loganalyst schema", "loganalyst schema audit")
def schema(
    of: Annotated[
        Document,
        typer.Argument(
            metavar="[diagnosis|verification|audit|inspection|replay|comparison|check]",
            help="The output of `diagnose`, `verify`, `audit`, `inspect`, `replay`, `compare` or `check`.",
        ),
    ] = Document.DIAGNOSIS,
) -> None:
    """Print the JSON Schema of a command's JSON output.

    The default is that of `diagnose --format json`.
    """
    from loganalyst.report.audit import schema as auditschema
    from loganalyst.report.check import schema as checkschema
    from loganalyst.report.comparison import schema as comparisonschema
    from loganalyst.report.diagnosis import schema as diagnosis
    from loganalyst.report.inspection import schema as inspectionschema
    from loganalyst.report.replay import schema as replayschema
    from loganalyst.report.verification import schema as verificationschema

    schemas = {
        Document.DIAGNOSIS: diagnosis,
        Document.VERIFICATION: verificationschema,
        Document.AUDIT: auditschema,
        Document.INSPECTION: inspectionschema,
        Document.REPLAY: replayschema,
        Document.COMPARISON: comparisonschema,
        Document.CHECK: checkschema,
    }
    emit(json.dumps(schemas[of].schema(), indent=2) + "\n")
