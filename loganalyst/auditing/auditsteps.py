"""The steps of one audit over its store: read the runs, judge them, and write their reports."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from loganalyst.auditing.htmlreports import linked, write
from loganalyst.limits import Limits
from loganalyst.processes.eachitem import Workers
from loganalyst.store import Below, Outcome, Store
from loganalyst.store.ledger import DamagedError


@dataclass
class AuditSteps:
    """How an audit works, and what its steps leave behind.

    - `workers`: those of a cluster; None for processes of this machine. `watch`: see `audit`.
    - `counts`: how many outcomes of each kind there were. `faults`, `copies`: see `Audit`.
    """

    store: Store
    processes: int
    limits: Limits
    workers: Workers | None = None
    watch: Callable[[Outcome, int | None], None] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    copies: list[tuple[str, str]] = field(default_factory=list)

    def read(self, below: Below, *, full: bool, trust_run_settings: bool) -> dict[str, Outcome | None]:
        """Read what changed. Returns each run by its id with its failure, or None if it was read."""
        failures: dict[str, Outcome | None] = {}  # None: read; keeping those outcomes would slow a scan of many runs
        for outcome in self.store.readings(
            below,
            self.processes,
            self.limits,
            full=full,
            trust_run_settings=trust_run_settings,
            workers=self.workers,
        ):
            if outcome.what == "copy":
                self.copies.append((outcome.path, outcome.why))
            else:
                failures[outcome.run or outcome.path] = outcome if outcome.what == "failed" else None
            self._count(outcome)
        return failures

    def judge(self, wanted: set[str]) -> None:
        """Judge those of the wanted runs that have no answer yet."""
        total = self.store.unjudged(wanted).height
        if not total:
            return
        try:
            for outcome in self.store.judgings(wanted, self.processes, self.limits, workers=self.workers):
                self._count(outcome, total)
        except DamagedError as error:  # the store was damaged since it was read
            self.faults.append(str(error))

    def report(self, selected: Store, runs: pl.DataFrame, folder: Path) -> pl.DataFrame:
        """Write a report of each failed run. Returns the runs with the paths of their reports."""
        for outcome in write(selected, runs, folder, self.processes, self.limits):
            self.faults += [outcome.why] if outcome.why else []
            self._count(outcome)
        return linked(runs, folder)

    def _count(self, outcome: Outcome, total: int | None = None) -> None:
        self.counts[outcome.what] += 1
        if self.watch:
            self.watch(outcome, total)
