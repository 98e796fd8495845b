"""Python tracebacks in a job log: taken apart by rank, chains kept together."""

from collections.abc import Sequence

from loganalyst.sources.text.tracebacks import tracelines
from loganalyst.sources.text.tracebacks.interleaved import untangle
from loganalyst.sources.text.tracebacks.tracelines import Printer
from loganalyst.sources.text.tracebacks.traces import Traceback, printed

_NOTE = "JaxStackTraceBeforeTransformation"  # an operation's origin, printed like the cause of what follows
_GROUP = "ExceptionGroup"
_MARGIN = 2  # of a group; its members stand behind wider ones
_BELOW = 8  # lines below an exception after which no other one follows from it


def find(printers: Sequence[Printer]) -> list[Traceback]:
    """The tracebacks of all printers, in file order."""
    found: list[Traceback] = []
    chains = 0
    for printer in printers:
        whole = printed(printer)
        untangle(whole)
        some = [one.found for one in whole]
        chains = _chained(some, chains)
        found += some
    return sorted(found, key=lambda one: one.head)


def unfinished(printers: Sequence[Printer]) -> int | None:
    """Position from which the rows may belong to what goes on behind the last of them (None: there is none): before the
    first header of an open chain, and within no other one.
    """
    open_ = [head for printer in printers if (head := _open(printer)) is not None]
    begin = min(open_, default=None)
    if begin is None:
        return None
    chains: dict[int, list[int]] = {}
    for one in find(printers):
        chains.setdefault(one.chain, []).extend((one.head, one.head if one.row is None else one.row))
    for places in sorted(chains.values(), reverse=True):
        begin = places[0] if places[0] < begin <= max(places) else begin
    return begin


def _open(printer: Printer) -> int | None:
    """The first header of this one's chains that may go on."""
    some = find([printer])
    if not some:
        return None
    last = some[-1]
    late = last.row is None or last.linked or printer.at[-_BELOW:][0] <= last.row
    open_ = {one.chain for one in some if one.row is None or (one is last and late)}
    group = tracelines.open_group(printer.said)
    heads = [one.head for one in some if one.chain in open_]
    return min(heads if group is None else [*heads, printer.at[group]], default=None)


def _chained(some: list[Traceback], chains: int) -> int:
    """Give those of one printer the numbers of their chains, and their causes; the number of chains by then."""
    least = min((one.depth for one in some), default=0)
    above: dict[tuple[int, bool], Traceback] = {}
    before: Traceback | None = None
    for k, one in enumerate(some):
        level = one.depth, one.remote
        follows = before is not None and before.linked
        member = one.depth > max(_MARGIN, least)
        chains += before is None or not (follows or member or _told(before, one))
        one.chain = chains
        if follows and not ((before and before.exception) or "").endswith(_NOTE):
            one.cause = above[level].head if level in above else None
        else:
            one.cause = _held(some, k)
        if before is not None and one.process is not None and one.row is not None:
            before.harmless = True  # all that it says is what the other process raised
        above[level] = before = one
    return chains


def _held(some: list[Traceback], k: int) -> int | None:
    """The header of what the k-th prints as part of itself: a group's first member, or the last in a worker's chain."""
    one, after = some[k], some[k + 1] if k + 1 < len(some) else None
    if after is None:
        return None
    if _told(one, after):
        last = next(i for i in range(k + 1, len(some)) if not _goes_on(some, i))
        return some[last].head
    group = (one.exception or "").endswith(_GROUP) and after.depth > one.depth
    return after.head if group or after.inner else None


def _told(one: Traceback, after: Traceback) -> bool:
    """Whether a remote task's traceback is what the first one's exception says."""
    return after.remote and one.row == after.head


def _goes_on(some: list[Traceback], i: int) -> bool:
    """Whether the chain of a remote task does."""
    return some[i].linked and i + 1 < len(some) and some[i + 1].remote
