"""How a place on a run's axis is named: a step, or the row where the log prints no step."""

from collections.abc import Callable

from loganalyst.model import Diagnosis
from loganalyst.report.common.wording import step


def named_by(d: Diagnosis) -> Callable[[int], str]:
    """Gives the words for a step of the run: `step 1,500`, or `row 31` where steps number the rows from 0."""
    rows = bool(d.features.values.get("run_steps_are_rows"))
    return lambda at: f"row {step(at + 1)}" if rows else f"step {step(at)}"
