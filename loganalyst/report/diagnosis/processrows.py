"""The processes of a run in a few rows: those that ended alike share a row."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from loganalyst.model import Diagnosis, ProcessEnd, ProcessState
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean

MAX_ROWS = 5  # kinds of ends that are shown
MAX_RANGES = 6  # ranges of ranks in one row
_WORDS: dict[ProcessEnd | None, str] = {
    "finished": "finished",
    "failed": "failed",
    "killed": "killed",
    "stopped": "stopped by the scheduler",
    "lost_peers": "waited for other ranks",
    "ended_by_others": "ended with the others",
    "silent": "stopped without a word",
    None: "end not known",
}


def process_rows(d: Diagnosis) -> tuple[Row, ...]:
    """One row for each kind of end, the worst first; none if there is one process only."""
    if len(d.processes) < 2:
        return ()
    order = ["failed", "killed", "silent", "stopped", "lost_peers", "ended_by_others", None, "finished"]
    ordered = sorted(d.processes, key=lambda p: (order.index(p.end), p.label or "", p.rank is None, p.rank or 0))
    groups = [[*some] for _, some in groupby(ordered, key=lambda p: (p.end, p.label))]
    return tuple(map(_row, groups[:MAX_ROWS]))


def _row(some: Sequence[ProcessState]) -> Row:
    """The row of processes that ended alike, with the fault and the last step."""
    first = some[0]
    place = f"{first.file}:{first.end_line}" if first.label and first.end_line else ""
    node = f"on {first.node}" if first.node and len({p.node for p in some}) == 1 else ""
    steps = [p.last_step for p in some if p.last_step is not None]
    reached = f"last step {max(steps):,}" if steps else ""
    why = ", ".join(filter(None, (first.label, place, node, reached)))
    needed = "" if first.needed else ", and the run went on"
    return Row(_names(some), clean(_WORDS[first.end] + needed + (f" ({why})" if why else "")))


def _names(some: Sequence[ProcessState]) -> str:
    """`rank 3`, `ranks 0-2, 5`, or the names of other processes."""
    ranks = sorted({p.rank for p in some if p.rank is not None})
    if not ranks:
        return clean(", ".join(sorted({p.name for p in some})), 60)
    return f"rank{'s' if len(ranks) > 1 else ''} {_ranges(ranks)}"


def _ranges(ranks: Sequence[int]) -> str:
    """Sorted ranks as `0-2, 5`."""
    breaks = [(a, b) for a, b in pairwise(ranks) if b != a + 1]
    starts, ends = [ranks[0], *(b for _, b in breaks)], [*(a for a, _ in breaks), ranks[-1]]
    texts = [f"{a}-{b}" if a != b else str(a) for a, b in zip(starts, ends, strict=True)]
    return ", ".join(texts[:MAX_RANGES]) + (", …" if len(texts) > MAX_RANGES else "")
