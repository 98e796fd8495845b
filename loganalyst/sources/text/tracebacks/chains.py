"""Python tracebacks in a job log: separated by rank, chains kept together."""

from collections.abc import Sequence
from itertools import pairwise

from loganalyst.sources.text.tracebacks import headers
from loganalyst.sources.text.tracebacks.interleaved import untangle
from loganalyst.sources.text.tracebacks.printers import Printer
from loganalyst.sources.text.tracebacks.traces import Printed, Traceback, printed

_NOTE = "JaxStackTraceBeforeTransformation"  # an operation's origin, printed like the cause of the next exception
_GROUP = "ExceptionGroup"
_GROUP_MARGIN = 2  # width of a group's margin; its members have wider ones
_MAX_QUOTE_LINES = 12  # lines from an exception to a traceback that its message quotes
# exceptions that programs catch in order to do without what is missing
_EXPECTED = ("KeyError", "IndexError", "AttributeError", "ImportError", "ModuleNotFoundError", "FileNotFoundError",
             "StopIteration", "Empty", "NotImplementedError")  # fmt: skip
_LINES_BELOW = 8  # lines below an exception; another one further down does not follow from it


def find(printers: Sequence[Printer]) -> list[Traceback]:
    """The tracebacks of all printers, in file order."""
    found: list[Traceback] = []
    chains = 0
    for printer in printers:
        whole = printed(printer)
        untangle(whole)
        some = [one.found for one in whole]
        chains = _chained(some, chains)
        for before, after in pairwise(whole):
            before.found.tried_again |= before.found.handled and _took_another_way(before, after)
        _name_printers(some)
        found += some
    return sorted(found, key=lambda one: one.head)


def unfinished(printers: Sequence[Printer]) -> int | None:
    """Position from which the rows may belong to a chain that goes on behind the last row (None: there is none). It is
    before the first header of an open chain, and not within another chain.
    """
    open_ = [head for printer in printers if (head := _open_head(printer)) is not None]
    begin = min(open_, default=None)
    if begin is None:
        return None
    chains: dict[int, list[int]] = {}
    for one in find(printers):
        chains.setdefault(one.chain, []).extend((one.head, one.head if one.row is None else one.row))
    for places in sorted(chains.values(), reverse=True):
        begin = places[0] if places[0] < begin <= max(places) else begin
    return begin


def _open_head(printer: Printer) -> int | None:
    """The first header of this printer's chains that may go on."""
    some = find([printer])
    if not some:
        return None
    last = some[-1]
    near_end = last.row is None or last.linked or printer.at[-_LINES_BELOW:][0] <= last.row
    open_ = {one.chain for one in some if one.row is None or (one is last and near_end)}
    group = headers.open_group(printer.texts)
    heads = [one.head for one in some if one.chain in open_]
    return min(heads if group is None else [*heads, printer.at[group]], default=None)


def _chained(some: list[Traceback], chains: int) -> int:
    """Set the chain numbers and causes of one printer's tracebacks; returns the number of chains so far."""
    least = min((one.depth for one in some), default=0)
    above: dict[tuple[int, bool], Traceback] = {}
    before: Traceback | None = None
    for k, one in enumerate(some):
        level = one.depth, one.remote
        follows = before is not None and before.linked
        member = one.depth > max(_GROUP_MARGIN, least)
        chains += before is None or not (follows or member or _is_message_of(before, one))
        one.chain = chains
        if follows and not ((before and before.exception) or "").endswith(_NOTE):
            one.cause = above[level].head if level in above else None
        else:
            one.cause = _enclosed_head(some, k)
        if before is not None and follows:
            before.tried_again = _tried_again(before, one)
        if _in_warning(before, one):
            one.ignored, one.printer = True, "warning"
        elif before is not None and one.quoted and one.row is not None:
            # it only repeats what another process, or each fit, raised
            before.harmless = before.harmless or not (before.quoted and before.process is None)
        above[level] = before = one
    return chains


def _in_warning(before: Traceback | None, one: Traceback) -> bool:
    """Whether `one` is quoted, and not by the exception above: scikit-learn warns of fits that failed, and only if all
    of them did, it raises an exception.
    """
    if not one.quoted or one.process is not None:
        return False
    raised = before is not None and before.row is not None and one.head - before.row <= _MAX_QUOTE_LINES
    return not raised or (before is not None and before.printer == "warning")


def _tried_again(before: Traceback, one: Traceback) -> bool:
    """Whether `one` was raised in the handler of `before`, by the same kind of exception with other words: what the
    handler tried instead failed as well, and ended the program.
    """
    known = before.exception is not None and before.message is not None
    return known and before.handled and before.exception == one.exception and before.message != one.message


def _took_another_way(before: Printed, after: Printed) -> bool:
    """Whether the function that caught `before`, an exception that programs expect, failed in what it did instead.

    `except KeyError: return self.default(name + 1)` does; `except KeyError: raise ConfigError(name)` passes it on.
    """
    if (before.found.exception or "").rpartition(".")[2] not in _EXPECTED:
        return False
    catcher = next((place for place in map(before.lines.place, range(1, len(before.lines.text))) if place), None)
    last = len(after.lines.text) - 1
    again = [i for i in range(1, last) if catcher and _of_one(after.lines.place(i), catcher)]
    return bool(again) and not after.lines.text[again[-1] + 1].lstrip().startswith("raise ")


def _of_one(place: tuple[str, str, str] | None, other: tuple[str, str, str]) -> bool:
    """Whether two frames are of the same function of a file."""
    return place is not None and (place[0], place[2]) == (other[0], other[2])


def _name_printers(some: list[Traceback]) -> None:
    """One printer for all tracebacks of a chain: the logger of the first, else that of the last."""
    first = {one.chain: one.printer for one in reversed(some)}
    last = {one.chain: one.printer for one in some}
    for one in some:
        one.printer = "logger" if first[one.chain] == "logger" else last[one.chain]


def _enclosed_head(some: list[Traceback], k: int) -> int | None:
    """The header of the traceback that the k-th prints as part of itself: a group's first member, or the last in a
    worker's chain.
    """
    one, after = some[k], some[k + 1] if k + 1 < len(some) else None
    if after is None:
        return None
    if _is_message_of(one, after):
        last = next(i for i in range(k + 1, len(some)) if not _goes_on(some, i))
        return some[last].head
    group = (one.exception or "").endswith(_GROUP) and after.depth > one.depth
    return after.head if group or (after.inner and not one.quoted) else None


def _is_message_of(one: Traceback, after: Traceback) -> bool:
    """Whether a remote task's traceback is in the message of `one`'s exception."""
    return after.remote and one.row == after.head


def _goes_on(some: list[Traceback], i: int) -> bool:
    """Whether the chain of a remote task goes on behind traceback `i`."""
    return some[i].linked and i + 1 < len(some) and some[i + 1].remote
