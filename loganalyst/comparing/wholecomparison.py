"""Compare many runs: audit them, group them by project, and compare each group."""

import os
from collections import Counter
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
    """Compare every run at or below `paths`. With two paths, the runs of the second are also compared with the first.

    `metric` is the objective (None: a held-out loss or score, else a reward or the training loss). `goal` is `min` or
    `max`, for a metric whose name does not show whether lower is better. The other arguments are those of `audit`. Only
    the largest group of related runs is compared; the other groups are `unrelated` and compared by themselves. Raises
    SourceError for a metric that no run has, and StoreError if the store cannot be used.

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
        question = _Question(metric, goal, [os.path.abspath(p) for p in paths])
        first, *others = kin(runs, metric)
        faults = (*found.faults, *found.runs.filter(status="unreadable")["why"].drop_nulls())
        if not others:
            answer = question.compare(runs, Failures(found.groups, found.contrasts))
        else:
            unrelated = [
                question.unrelated(runs.at(k.rows), k, full=i < limits().compared.groups) for i, k in enumerate(others)
            ]
            answer = _joined(question.compare(runs.at(first.rows)), unrelated)
        obeyed, ignored = (_entries(found.runs[name]) for name in ("settings_obeyed", "settings_ignored"))
        return replace(answer, settings_obeyed=obeyed, settings_ignored=ignored, faults=faults)


@dataclass(frozen=True)
class _Question:
    """The options of the user."""

    metric: str | None
    goal: Goal | None
    sets: Sequence[str]

    def compare(self, runs: Logged, failures: Failures | None = None) -> Comparison:
        """The comparison of related runs. Raises SourceError if no run has the metric."""
        config = runs.config.lazy()
        failures = failures or Failures(groups(runs.listing, config), contrasts(runs.listing, config))
        return compared(gathered(runs, self.metric, self.goal), failures, self.sets)

    def unrelated(self, runs: Logged, group: Kin, *, full: bool) -> tuple[pl.DataFrame, Unrelated]:
        """The table of runs that are unrelated to the first group, and their own comparison."""
        alone = None
        if full and len(group.rows) >= limits().compared.runs:
            with suppress(SourceError):  # they do not log the metric that was asked for
                alone = self.compare(runs)
        rows = alone.runs if alone else table(gathered(runs, None, None), Seeds())
        ids, paths = runs.listing["run_id"], runs.listing["path"]
        return rows, Unrelated(_folder(paths), tuple(ids), group.settings, group.metrics, group.scale, alone)


def _joined(found: Comparison, unrelated: Sequence[tuple[pl.DataFrame, Unrelated]]) -> Comparison:
    """The comparison of the first group, with the rows of the other groups at the end of its table."""
    rows = [
        table.select(COMMON).with_columns(
            objective=pl.lit(None, pl.Float64), group=pl.lit(None, pl.String), left_out=pl.lit(UNRELATED)
        )
        for table, _ in unrelated
    ]
    runs = pl.concat([found.runs, *rows], how="diagonal")
    objective = found.objective
    if objective is not None:
        left_out = {**objective.left_out, UNRELATED: runs.height - found.runs.height}
        objective = replace(objective, left_out=left_out)
    return replace(found, runs=runs, objective=objective, unrelated=tuple(group for _, group in unrelated))


def _entries(column: pl.Series) -> dict[str, int]:
    """The entries of a column of a run list, one entry a line, with the number of runs that have each."""
    return Counter(entry for text in column.drop_nulls() for entry in text.splitlines())


def _folder(paths: pl.Series) -> str:
    """The deepest common folder of the paths; for one path, the path itself."""
    return str(os.path.commonpath(paths.to_list()))
