"""The traceback or stack behind a cause in a few words: the error, its frame, and the ranks that raised it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from loganalyst.model import Cause, Diagnosis
from loganalyst.report.common.wording import clean

MAX_RANGES = 8  # ranges of ranks that are listed


def raised(cause: Cause, d: Diagnosis) -> tuple[tuple[str, str], ...]:
    """Label and text for each known fact about the block at the cause's line; empty without a block."""
    block = d.run.block(cause.file, cause.line)
    if block is None:
        return ()
    error = ": ".join(filter(None, (block["exception"], block["message"])))
    ranks = block["ranks"] or []
    times = block["repeated"] if block["repeated"] > max(len(ranks), 1) else 0
    rows = (
        ("Error", clean(error, 240)),
        ("Frame", clean(block["frame"] or "", 240)),
        ("Ranks" if len(ranks) > 1 else "Rank", listed(ranks)),
        ("Printed", f"{times} times" if times else ""),
    )
    return tuple((label, text) for label, text in rows if text)


def listed(ranks: Sequence[int]) -> str:
    """`0-2, 5` for 0, 1, 2, 5. Of many ranges the first are listed, with the number of all ranks."""
    ranges = list(_ranges(ranks))
    more = f" and others, {len(ranks)} in all" if len(ranges) > MAX_RANGES else ""
    return ", ".join(ranges[:MAX_RANGES]) + more


def _ranges(ranks: Sequence[int]) -> Iterator[str]:
    for _, group in groupby(enumerate(sorted(ranks)), key=lambda pair: pair[1] - pair[0]):
        first, *others = (rank for _, rank in group)
        yield f"{first}-{others[-1]}" if others else str(first)
