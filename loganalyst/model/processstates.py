"""How each process of a run ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loganalyst.model.shortrepr import Short

ProcessEnd = Literal["finished", "failed", "killed", "stopped", "lost_peers", "ended_by_others", "silent"]


@dataclass(frozen=True, repr=False)
class ProcessState(Short):
    """One process of the last start, as its log lines show it. None means not known.

    `name`: `rank 3`, `program` where no line names a rank, or `child` for a process that the program started itself.
    `first_line` and `last_line` (from 1) are its known lines in `file`, `started` and `last_seen` their times.
    `last_step` is the last step that it printed. `end` is how it ended: `lost_peers` waited for other ranks,
    `ended_by_others` was ended from outside, `silent` stopped without a word before other processes finished. `label`,
    `end_line`: the fault and its line. `needed`: the run fails if the process ends badly.

    >>> ProcessState("rank 3", 3, None, "train.log", 5, 90, None, None, 80, "failed", "cuda_oom", 90, True).end
    'failed'
    """

    name: str
    rank: int | None
    node: str | None
    file: str
    first_line: int
    last_line: int
    started: datetime | None
    last_seen: datetime | None
    last_step: int | None
    end: ProcessEnd | None
    label: str | None
    end_line: int | None
    needed: bool
