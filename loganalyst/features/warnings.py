"""Features of warnings in the job log that name a cause on their own."""

import json

import polars as pl

from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, Witness
from loganalyst.patterntraits import having

NEEDS = "the job log (SLURM output, stdout or stderr)"
FEATURES = (
    Feature("variance_warning_count", "int", "lines", "warnings that a variance or standard deviation was computed from too few values (0 = none found)", NEEDS),
    Feature("variance_warning_operation", "text", "", "operation that warned: var, std or another", NEEDS),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; not known if no job log was read."""
    if not any(s.format == "text" for s in context.run.sources):
        return {}
    found = context.run.lines.filter(pl.col("pattern").is_in(having("too_few_values")))
    if not found.height:
        return {"variance_warning_count": 0}
    first = found.row(0, named=True)
    witness = Witness(file=first["file"], line=first["line"], rank=first["rank"], node=first["node"])
    operation = json.loads(first["captures"] or "{}").get("operation") or "var"
    return {
        "variance_warning_count": (found.height, witness),
        "variance_warning_operation": (operation, witness),
    }
