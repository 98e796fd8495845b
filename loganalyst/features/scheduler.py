"""Features of the batch system that ran the job, and its own terms for fixes (`rules/schedulers.yaml`)."""

from functools import cache

from loganalyst.features.context import Computed, Context
from loganalyst.features.namedinlogs import commonest
from loganalyst.model import Feature
from loganalyst.rulefiles import Shape, Text, Texts, ours

NEEDS = "the job log (SLURM output, stdout or stderr), or the scheduler's accounting"
FEATURES = (
    Feature("scheduler", "text", "", "batch system that ran the job: slurm, lsf, pbs, sge, kubernetes or htcondor", NEEDS),
    Feature("scheduler_memory", "text", "", "its option that requests more memory", NEEDS),
    Feature("scheduler_time", "text", "", "its option that requests more time", NEEDS),
    Feature("scheduler_records", "text", "", "its command that shows how a job ended", NEEDS),
    Feature("scheduler_exclude", "text", "", "its way to avoid a node", NEEDS),
)  # fmt: skip


class _Scheduler(Shape, frozen=True):
    words: Texts
    memory: Text
    time: Text
    records: Text
    exclude: Text


@cache
def _schedulers() -> dict[str, _Scheduler]:
    return ours("schedulers.yaml", dict[str, _Scheduler])


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing if no line and no accounting shows the batch system."""
    words = {name: scheduler.words for name, scheduler in _schedulers().items()}
    name = commonest(context.run.lines["text"], words) or ("slurm" if context.run.jobs.height else None)
    if name is None:
        return {}
    terms = _schedulers()[name]
    own = ("memory", "time", "records", "exclude")
    found = {f"scheduler_{term}": getattr(terms, term) for term in own}
    if context.run.job:
        found["scheduler_records"] = found["scheduler_records"].replace("JOB", context.run.job)
    return {"scheduler": name, **found}
