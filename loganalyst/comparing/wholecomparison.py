"""Many runs beside each other, from their store to what is to be learned from them together."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from loganalyst.auditing.batch import audit
from loganalyst.auditing.failurecontrasts import contrasts
from loganalyst.auditing.failuregroups import groups
from loganalyst.comparing.comparedruns import Logged, gathered, logged
from loganalyst.comparing.comparisonlimits import limits
from loganalyst.comparing.comparisonresult import UNRELATED, Comparison, Seeds, Unrelated
from loganalyst.comparing.relatedruns import Kin, kin
from loganalyst.comparing.runobjective import Goal
from loganalyst.comparing.runsets import COMMON, Failures, compared, table
from loganalyst.errors import SourceError
from loganalyst.limits import MAX_RUN_SECONDS
from loganalyst.store import Outcome, Store


def compare(
    paths: Sequence[str | Path],
    store: str | Path | None = None,
    *,
    metric: str | None = None,
    goal: Goal | None = None,
    jobs: int | None = None,
    seconds: float = MAX_RUN_SECONDS,
    full: bool = False,
    writes: Sequence[str | Path | None] = (),
    trust_run_settings: bool = False,
    watch: Callable[[Outcome, int | None], None] | None = None,
) -> Comparison:
    """Compare every run at or below `paths`; of two paths the second one's runs are also held against the first one's.

    `metric` is what runs are compared by (None: a held-out loss or score, else a reward or the training loss), `goal`
    whether `min` or `max` of it is best, where its name does not say. The others are those of `audit`. Runs that have
    nothing to do with the largest group that belongs together are `unrelated`: they are compared by themselves. Raises
    SourceError for a metric that no run has, StoreError where the store cannot be used.

    >>> import loganalyst as la
    >>> found = la.compare(["fixtures/runs/nan-lr", "fixtures/runs/healthy-gpt-noisy"], jobs=1, metric="val/loss")
    >>> found.objective.metric, found.objective.worse
    ('val/loss', 'up')
    """
    with ExitStack() as stack:
        folder = Path(store or stack.enter_context(TemporaryDirectory(prefix="loganalyst-")))
        found = audit(
            paths,
            folder,
            jobs=jobs,
            seconds=seconds,
            full=full,
            writes=writes,
            watch=watch,
            trust_run_settings=trust_run_settings,
        )
        runs = logged(found.runs, Store(folder))
        asked = _Asked(metric, goal, [os.path.abspath(p) for p in paths])
        first, *others = kin(runs, metric)
        if not others:
            return asked.of(runs, Failures(found.groups, found.contrasts))
        beside = [asked.beside(runs.of(k.rows), k, full=i < limits().compared.groups) for i, k in enumerate(others)]
        return _joined(asked.of(runs.of(first.rows)), beside)


@dataclass(frozen=True)
class _Asked:
    """What the user wants to know."""

    metric: str | None
    goal: Goal | None
    sets: Sequence[str]

    def of(self, runs: Logged, failures: Failures | None = None) -> Comparison:
        """Runs that belong together. Raises SourceError where none has the metric."""
        config = runs.config.lazy()
        failures = failures or Failures(groups(runs.listing, config), contrasts(runs.listing, config))
        return compared(gathered(runs, self.metric, self.goal), failures, self.sets)

    def beside(self, runs: Logged, group: Kin, *, full: bool) -> tuple[pl.DataFrame, Unrelated]:
        """A table of runs that have nothing to do with the first group, and what they tell by themselves."""
        alone = None
        if full and len(group.rows) >= limits().compared.runs:
            with suppress(SourceError):  # they do not log the metric that was asked for
                alone = self.of(runs)
        rows = alone.runs if alone else table(gathered(runs, None, None), Seeds())
        ids, paths = runs.listing["run_id"], runs.listing["path"]
        return rows, Unrelated(_folder(paths), tuple(ids), group.settings, group.metrics, group.scale, alone)


def _joined(found: Comparison, beside: Sequence[tuple[pl.DataFrame, Unrelated]]) -> Comparison:
    """The comparison of the first group with the rows of the others behind it, which it does not compare."""
    rows = [
        table.select(COMMON).with_columns(
            objective=pl.lit(None, pl.Float64), group=pl.lit(None, pl.String), left_out=pl.lit(UNRELATED)
        )
        for table, _ in beside
    ]
    runs = pl.concat([found.runs, *rows], how="diagonal")
    objective = found.objective
    if objective is not None:
        left_out = {**objective.left_out, UNRELATED: runs.height - found.runs.height}
        objective = replace(objective, left_out=left_out)
    return replace(found, runs=runs, objective=objective, unrelated=tuple(group for _, group in beside))


def _folder(paths: pl.Series) -> str:
    """The deepest one that holds all of some runs; of one run the run itself."""
    return str(os.path.commonpath(paths.to_list()))
