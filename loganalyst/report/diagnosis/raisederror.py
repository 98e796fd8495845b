"""The traceback or stack behind a cause, in a few words: what was raised, where, and by which ranks."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from loganalyst.model import Cause, Diagnosis
from loganalyst.report.common.wording import clean

RUNS = 8  # of ranks that are listed one by one


def raised(cause: Cause, d: Diagnosis) -> tuple[tuple[str, str], ...]:
    """Label and text of each thing known of the block at the cause's line; nothing where there is none."""
    block = d.run.block(cause.file, cause.line)
    if block is None:
        return ()
    what = ": ".join(filter(None, (block["exception"], block["message"])))
    ranks = block["ranks"] or []
    often = block["repeated"] if block["repeated"] > max(len(ranks), 1) else 0
    rows = (
        ("Error", clean(what, 240)),
        ("Frame", clean(block["frame"] or "", 240)),
        ("Ranks" if len(ranks) > 1 else "Rank", listed(ranks)),
        ("Printed", f"{often} times" if often else ""),
    )
    return tuple((label, text) for label, text in rows if text)


def listed(ranks: Sequence[int]) -> str:
    """`0-2, 5` for 0, 1, 2, 5; of many runs the first and how many ranks there are."""
    runs = list(_runs(ranks))
    more = f" and others, {len(ranks)} in all" if len(runs) > RUNS else ""
    return ", ".join(runs[:RUNS]) + more


def _runs(ranks: Sequence[int]) -> Iterator[str]:
    for _, group in groupby(enumerate(sorted(ranks)), key=lambda one: one[1] - one[0]):
        first, *rest = (rank for _, rank in group)
        yield f"{first}-{rest[-1]}" if rest else str(first)
