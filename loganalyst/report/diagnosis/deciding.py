"""What to log, give or change so that an open question is settled."""

from loganalyst.model import Cause, Decider, Diagnosis
from loganalyst.report.common.wording import clean
from loganalyst.report.diagnosis.ruledout import JOB_LOG, joined, words

CONFIG = "config"  # as features name what they need
FILES = (  # needs that are files: given, not logged
    JOB_LOG, CONFIG, "SLURM accounting", "checkpoints", "inspected checkpoints", "two checkpoints", "a profile",
    "stacks", "flight-recorder dumps", "logs with", "the job logs", "the optimiser's",
)  # fmt: skip


def decider_text(decider: Decider, d: Diagnosis, cause: Cause | None = None) -> str:
    """What to do to settle the question: log or give what is missing, or make a change.

    A cause already shows its change. A metric that has too few values is to be logged more often.
    """
    if decider.kind == "experiment":
        change = "make the change: if the check holds, this is the cause"
        return change if cause else f"try: {clean(decider.what)}; then {clean(decider.check)}"
    what = clean(decider.what)
    others = [f'"{clean(title, 120)}"' for title in decider.separates if cause is None or title != cause.issue][:2]
    distinguishes = (
        f" (distinguishes {'it from ' if cause else ''}{joined(others)})" if others[0 if cause else 1 :] else ""
    )
    if what.startswith(FILES):
        return f"give {'the config of the run' if what == CONFIG else what}{distinguishes}"
    often = " more often" if any(m.role == what for m in d.metrics) else ""
    return f"log {words(what)}{often}{distinguishes}"
