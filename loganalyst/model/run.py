"""A run as it was read: its tables, and where they came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import polars as pl

from loganalyst.model.features import FeatureValue
from loganalyst.model.inspection import Inspection
from loganalyst.model.tables import Tables

# fmt: off
RunStatus = Literal[
    "finished", "stopped_early", "failed", "killed", "preempted", "cancelled", "timeout", "node_fail", "running",
    "unknown",
]
RunEnd = Literal[  # what a run's status, its plan and its files show together
    "finished", "early_stopped", "stopped_early_unexplained", "failed", "killed", "timeout", "preempted", "cancelled",
    "node_fail", "running",
]
# fmt: on


@dataclass(frozen=True)
class Source:
    """One file of a run. `path` is relative to the run (the file's name if the run is one file)."""

    path: str
    format: str | None
    bytes: int
    points: int = 0
    lines: int = 0


@dataclass(frozen=True)
class SettingsFile:
    """A loganalyst.yaml or a folder of rules. `what` says what of it is obeyed, or why nothing is."""

    file: str
    what: str


@dataclass(frozen=True, repr=False)
class Run(Tables):
    """Everything that was read of one run: its tables (`session` counts over the whole run) and general facts.

    `framework` and `host` are as the files state them. `basis` says how separate places were joined. `suggested` are
    job logs that may belong to the run, `ignored` are files left out on purpose, such as copies. `job` is the id of the
    scheduler's job, from `jobs` or else from the logs (None: not known). `inspection` is that of the checkpoints, if it
    was requested. `settings` is the loganalyst.yaml in force (empty: none), `settings_inside` says whether it came with
    the run, `settings_ignored` are files that are not obeyed. Only an anonymous document has `roles` (of metrics whose
    names do not show them), `role_confidence` (of metrics with an unsure role) and `given` (features that its tables no
    longer show).

    >>> import loganalyst as la
    >>> la.read_run("fixtures/runs/nan-lr").config.filter(key="optim.lr")["number"].item()
    0.0258
    """

    id: str = ""
    path: Path = Path()
    name: str = ""
    sources: tuple[Source, ...] = ()
    status: RunStatus = "unknown"
    started: datetime | None = None
    ended: datetime | None = None
    host: str | None = None
    framework: str | None = None
    basis: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    job: str | None = None
    inspection: "Inspection | None" = None
    roles: Mapping[str, str] = field(default_factory=dict)
    role_confidence: Mapping[str, float] = field(default_factory=dict)
    given: Mapping[str, FeatureValue] = field(default_factory=dict)
    settings: str = ""
    settings_inside: bool = False
    settings_ignored: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """The run as a notebook shows it."""
        from loganalyst.report import prompt

        return prompt.run(self)

    def block(self, file: str | None, line: int | None) -> dict[str, Any] | None:
        """The row of `blocks` that ends at a line of a file, or contains it; None if there is none.

        If the exception that led to the block is printed below it, its row is returned instead. Workers, exception
        groups and ranks in torchrun's table print their exceptions so.

        >>> import loganalyst as la
        >>> run = la.read_run("fixtures/runs/cuda-oom")
        >>> run.block("slurm-48104.out", 27)["exception"]
        'torch.OutOfMemoryError'
        """
        if file is None or line is None:
            return None
        here = self.blocks.filter(pl.col("file") == file, pl.col("first_line") <= line, pl.col("last_line") >= line)
        if not here.height:
            return None
        near = here.sort(pl.col("last_line") != line, pl.col("last_line") - pl.col("first_line"), maintain_order=True)
        found = near.row(0, named=True)
        while found["parent"] is not None:
            inner = self.blocks.filter(file=file, block=found["parent"]).row(0, named=True)
            if inner["first_line"] <= found["first_line"]:
                break
            found = inner
        return found
