"""The first line of a report: the state of a run, how far it came and how long it took."""

from loganalyst.model import Diagnosis
from loganalyst.report.common.wording import clean, count, duration, number, step

ENDS = {  # where nothing states the end
    "finished": "REACHED ITS END",
    "early_stopped": "STOPPED EARLY",
    "stopped_early_unexplained": "STOPPED",
}
STATES = {
    "finished": "FINISHED",
    "stopped_early": "STOPPED EARLY",
    "failed": "FAILED",
    "killed": "KILLED",
    "preempted": "PREEMPTED",
    "cancelled": "CANCELLED",
    "timeout": "TIMED OUT",
    "node_fail": "NODE FAILED",
    "running": "STILL RUNNING",
    "unknown": "LAST SEEN",
}


def headline(d: Diagnosis) -> str:
    """`FAILED at step 24,650 of 50,000 after 3 h 12 min`, as far as these are known."""
    if d.status == "unreadable":
        return "UNREADABLE"
    last, planned = _last_step(d), d.features.values.get("run_planned_steps")
    text = STATES[d.run.status]
    end = str(d.features.values.get("run_end")) if d.run.status == "unknown" else ""
    without = last is None and d.run.status == "unknown"
    if last is not None:
        of = int(planned) if isinstance(planned, (int, float)) and planned >= last else None
        text = ENDS.get(end, text)
        text += _where(d, last) + (f" of {step(of)}" if of else _epochs(d, end))
    elif without:
        text = "NO STEP LOGGED"
    seconds = d.summary.get("duration_s")
    joined_by = " in" if without else " and" if " after " in text else " after"  # "after 30 logged rows and 4 min"
    text += f"{joined_by} {duration(seconds)}" if seconds and seconds >= 1 else ""
    text += "; no step was logged" if last is None and not without else ""
    text += ", nothing shows why" if end == "stopped_early_unexplained" and not d.causes else ""
    otherwise = d.features.values.get("run_status_otherwise")
    return text + (f" (though {clean(otherwise, 120)})" if otherwise else "")


def _last_step(d: Diagnosis) -> int | None:
    """The last step of the curves; without one, the last that a process printed."""
    printed = (process.last_step for process in d.processes if process.last_step is not None)
    last = d.summary.get("last_step")
    if last == 0 and d.features.values.get("run_steps_are_rows"):
        return None
    return max(printed, default=None) if last is None else int(last)


def _where(d: Diagnosis, last: int) -> str:
    """` at step 24,650`; where the log has no such steps, how much of it there is."""
    if d.features.values.get("run_steps_are_rows"):
        return f" after {count(last + 1, 'logged row')}"
    begins_late = d.features.values.get("train_loss_begins_late") and d.run.points["step"].min() in (0, 1)
    return f" at step {step(last)}" + (" of the logged part" if begins_late else "")


def _epochs(d: Diagnosis, end: str) -> str:
    """` (epoch 47 of 100)` of a run that stopped before its plan."""
    if end not in ("early_stopped", "stopped_early_unexplained"):
        return ""
    done, planned = (d.features.values.get(name) for name in ("run_epochs", "config_epochs"))
    if not isinstance(done, float) or not isinstance(planned, float):
        return ""
    return f" (epoch {number(done)} of {number(planned)})"
