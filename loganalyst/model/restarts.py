"""Whether a failed run should be started again."""

from dataclasses import dataclass
from typing import Literal

from loganalyst.model.shortrepr import Short

RestartVerdict = Literal["restart", "restart_elsewhere", "do_not_restart", "unknown"]


@dataclass(frozen=True)
class Attempt:
    """One start of the program, by the name of its `run` and the number of the `start` in it (from 1).

    `label` is the kind of its root cause. `same`: it ended by the same root cause as the last attempt.
    """

    run: str
    start: int
    status: str
    label: str | None
    file: str | None
    line: int | None
    node: str | None
    last_step: int | None
    same: bool


@dataclass(frozen=True, repr=False)
class Restart(Short):
    """The verdict on a restart, its `reason`, and the `entry` of `rules/restart.yaml` that gave it.

    `cause` is the rule of the cause that it is about (None: no cause is known), `confidence` how sure that cause is.
    `exclude_nodes` are the nodes to avoid. The last `in_a_row` attempts ended by the same root cause, none of them
    further than the one before. `attempts` are in order of time.
    """

    verdict: RestartVerdict
    reason: str
    entry: str
    cause: str | None
    confidence: float
    exclude_nodes: tuple[str, ...]
    in_a_row: int
    attempts: tuple[Attempt, ...]
