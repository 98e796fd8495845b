"""Learn from the verified fixes in a store: a cause whose fixes failed repeatedly gets a lower confidence."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl

from loganalyst import guard
from loganalyst.baseline import FailedFixes, kinds
from loganalyst.model import CauseCheck, Diagnosis, Lesson, Run, Verification
from loganalyst.pipeline import lowered
from loganalyst.store import Store

NO_CHANGE = "no change that is logged"
MAX_CHANGES_NAMED = 3


def learned(found: Verification, store: Store) -> Verification:
    """Record the outcome in the store, and lower the causes of the new run whose fixes failed in its lineage."""
    store.heal()  # drops damaged rows; `store.faults` reports them
    past = store.verifications.collect()
    line = lineage(found.old.run, past)
    guard.check([store.path], map(guard.of_run, (found.old.run, found.new.run)))
    store.keep("verifications", _rows(found, line))
    failed = _failed(store.verifications.filter(lineage=line).collect())
    return _lowered(found, failed, kinds().failed)


def lineage(run: Run, past: pl.DataFrame) -> str:
    """The experiment that a run belongs to: the lineage of an earlier verification with this run as the new one, else
    the tracker's project, else the run's folder.
    """
    before = past.filter(run_id=run.id)
    if before.height:
        return str(before["lineage"][-1])
    project = run.config.filter(pl.col("key").is_in(["_wandb.project", "mlflow.experiment_name"]))["value"].drop_nulls()
    return f"project {project[-1]}" if len(project) else f"folder {run.path.absolute().parent}"


def _rows(found: Verification, line: str) -> pl.DataFrame:
    """One row per cause of the old run."""
    now = datetime.now(UTC)
    return pl.DataFrame([
        {
            "run_id": found.new.run.id, "old": found.old.run.id, "old_path": str(found.old.run.path),
            "path": str(found.new.run.path), "lineage": line, "cause": check.id, "label": check.label,
            "outcome": check.outcome, "applied": check.applied, "fix": tried(check, found), "time": now,
        }
        for check in found.checks
    ], schema_overrides={"applied": pl.Boolean})  # fmt: skip


def tried(check: CauseCheck, found: Verification) -> str:
    """The changes that were made to fix a cause, in words; other changes where no relevant one was made."""
    others = found.new.baseline.changes if found.new.baseline else ()
    texts = [f"{c.key} {c.before} → {c.after}" for c in (check.changes or others)[:MAX_CHANGES_NAMED]]
    return ", ".join(texts) or NO_CHANGE


def _failed(history: pl.DataFrame) -> dict[str, list[str]]:
    """The fixes that failed since the cause was last fixed, by cause. A fix that was not applied did not fail."""
    found: dict[str, list[str]] = {}
    for cause, outcome, applied, fix in history.select("cause", "outcome", "applied", "fix").iter_rows():
        if outcome == "fixed":
            found.pop(cause, None)
        elif outcome == "not" and applied is not False and fix != NO_CHANGE:
            found.setdefault(cause, []).append(fix)
    return found


def _lowered(found: Verification, failed: dict[str, list[str]], rule: FailedFixes) -> Verification:
    """The verification with the causes of its new run lowered and ranked again."""
    enough = {cause: fixes for cause, fixes in failed.items() if len(fixes) >= rule.count}
    new = lowered(found.new, {cause: (_weight(fixes, rule), _text(fixes)) for cause, fixes in enough.items()})
    known = [cause.id for cause in found.new.causes if cause.id in enough]
    lessons = tuple(_lesson(cause, found.new, new, enough[cause]) for cause in known)
    fresh = {cause.id for cause in found.new_causes}
    return replace(found, new=new, new_causes=tuple(c for c in new.causes if c.id in fresh), lessons=lessons)


def _weight(fixes: Sequence[str], rule: FailedFixes) -> float:
    return rule.different if len(set(fixes)) >= rule.count else rule.same


def _text(fixes: Sequence[str]) -> str:
    """The lesson: no fix of this cause helps, or this one fix does not."""
    different = list(dict.fromkeys(fixes))
    if len(different) == 1:
        return f"the same fix failed {len(fixes)} times ({different[0]}): it does not help; try another"
    return f"{len(different)} different fixes failed ({'; '.join(different)}): the cause is likely another one"


def _lesson(cause: str, before: Diagnosis, after: Diagnosis, fixes: Sequence[str]) -> Lesson:
    was = next(c for c in before.causes if c.id == cause)
    now = next((c.confidence for c in after.causes if c.id == cause), 0.0)
    return Lesson(cause, was.issue, tuple(fixes), was.confidence, now, _text(fixes))
