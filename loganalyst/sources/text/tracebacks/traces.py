"""One Python traceback in a job log: its lines, its exception, its innermost frame."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from loganalyst.sources.text.tracebacks import frames, headers, linebefore, margins
from loganalyst.sources.text.tracebacks.printers import Printer
from loganalyst.sources.text.tracebacks.tracelines import MAX_ROWS, Ending, Lines

_INNER = "Original Traceback"  # of a worker, in the message of its parent's exception
_CODE_LINES = 1  # lines of code below a frame


@dataclass(slots=True)
class Traceback:
    """One traceback; places are positions in the rows that were searched.

    head, row: of the header and of the exception's line (None where it is cut off); deep: of its last frame; chain:
    number of its chain; exception, message; more: the first message in the lines below the exception; frame: "file:line
    in function" of the innermost frame outside libraries (None where there is none, or its process is not known).

    harmless: printed by the interpreter's clean-up or a side thread, or by a process that only passes on what another
    raised; ignored: the interpreter says that it ignored the exception; process: the rank that it is said to come from;
    node: the address of a remote task's node; cause: header of the exception that led to this one, or of a group's
    first member. tried_again: its handler tried another way, and that failed.
    printer: what printed it, `logger`, `handler`, `child`, `thread` or `interpreter` (None: not known). outer:
    "file:line" of the outermost frame where the interpreter printed it; late: it had
    left the training behind.

    depth: of its margin; linked: the next one is said to follow from it; handled: the next one was raised while this
    one was handled; inner: printed as part of the previous one's message; quoted: the exception above is about this
    one; remote: in Ray's form.
    """

    head: int
    depth: int
    linked: bool
    handled: bool
    inner: bool
    quoted: bool
    remote: bool
    harmless: bool
    process: int | None
    node: str | None
    ignored: bool = False
    printer: str | None = None
    outer: str | None = None
    late: bool = False
    row: int | None = None
    deep: int | None = None
    chain: int = 0
    exception: str | None = None
    message: str | None = None
    more: str | None = None
    frame: str | None = None
    cause: int | None = None
    tried_again: bool = False


@dataclass
class Printed:
    """A traceback with its lines up to the next header. Its printer's lines are at the positions `at`; it begins with
    line number `first`.
    """

    found: Traceback
    lines: Lines
    at: Sequence[int]
    first: int

    def place(self, i: int) -> int:
        """The position of its line `i`."""
        return self.at[self.first + i]

    def end(self, ending: Ending | None, row: int | None) -> None:
        """Set the exception, which is in `row` (None: there is none)."""
        found = self.found
        found.row, found.exception, found.message = row, ending and ending.name, ending and ending.says

    def endings(self) -> list[Ending]:
        """All exceptions that follow the first with only frames between."""
        return self._behind[0]

    def strays(self) -> bool:
        """Whether a line outside a traceback is behind them (anywhere, if there is no exception)."""
        return self._behind[1]

    def extras(self) -> bool:
        """Whether another exception is named behind such a line."""
        return self._behind[2]

    def orderly(self) -> bool:
        """Whether each line down to the exception is a frame, or the code of the frame above, or marks below code."""
        end = next((ending.at for ending in self.endings()), len(self.lines.text))
        below = _CODE_LINES + 1
        for i in range(1, end):
            text = self.lines.text[i]
            below = 0 if self.lines.place(i) else _CODE_LINES if text.strip(" ~^") == "" and below else below + 1
            if below > _CODE_LINES or not self.lines.indented(i):
                return False
        return True

    @cached_property
    def _behind(self) -> tuple[list[Ending], bool, bool]:
        """`endings`, `strays` and `extras`."""
        found: list[Ending] = []
        stray = False
        for i in range(self.lines.bare(), len(self.lines.text)):
            if self.lines.indented(i) or headers.chained(self.lines.text[i]):
                continue
            ending = self.lines.ending(i)
            if ending and found and stray:
                return found, True, True
            if ending:
                found.append(ending)
            stray = ending is None
        return found, stray, False

    def frames(self) -> list[str]:
        """The frames outside libraries, down to the last exception."""
        endings = self.endings()
        end = endings[-1].at if endings else len(self.lines.text)
        return [frame for i in range(end) if (frame := self.lines.frame(i))]


def printed(printer: Printer) -> list[Printed]:
    """The tracebacks of a printer, each for itself."""
    heads = headers.heads(printer.texts)
    if not heads:
        return []
    links, handlings = headers.links(printer.texts), headers.handlings(printer.texts)
    return [
        _completed(_opened(printer, first, after, links, handlings))
        for first, after in pairwise([*heads, len(printer.texts)])
    ]


def _opened(printer: Printer, first: int, after: int, links: list[int], handlings: list[int]) -> Printed:
    """A traceback with its lines, without exception and frame."""
    texts = printer.texts
    text, before = texts[first], texts[first - 1] if first else ""
    end = min(after, first + MAX_ROWS + 1)
    task, quoted = headers.remote(text), linebefore.is_quoted(before)
    shared = (
        end == after < len(texts) and headers.remote(texts[end]) is not None
    )  # its header may name this one's exception
    lines = margins.without_margins(texts, first, end + shared)
    by, outer = _printed_by(before, text, lines)
    found = Traceback(
        head=printer.at[first], depth=lines.depth, linked=bisect_left(links, first) < bisect_left(links, end),
        handled=bisect_left(handlings, first) < bisect_left(handlings, end),
        inner=quoted or _INNER in text, quoted=quoted, remote=task is not None,
        harmless=any(map(linebefore.harmless, (before, *texts[first : first + 2]))),
        process=linebefore.next_process(before), node=task[1] if task else None,
        ignored=any(map(linebefore.ignored, (before, *texts[first : first + 2]))) or by == "warning",
        printer=by, outer=outer, late=by in ("interpreter", "handler") and lines.late(),
    )  # fmt: skip
    return Printed(found, lines, printer.at, first)


def _printed_by(before: str, head: str, lines: Lines) -> tuple[str | None, str | None]:
    """What printed a traceback, by its form, and the outermost frame where that is the interpreter (None: not known).

    `logger`: it is part of a log record. `child`, `thread`: a process or thread of the program ended by it.
    `interpreter`: nothing caught the exception, since the outermost frame is the top of the user's script. `handler`:
    the program caught it, since the outermost frame is a function of the user's. `library`: a library caught it as it
    was imported, since the outermost frame is the top of its module. `command`: a one-line program of a job script
    ended by it (`python -c "import jax"`), and the shell goes on. `warning`: it is part of a warning.
    """
    places = (lines.place(i) for i in range(1, min(lines.bare(), len(lines.text))))
    outermost = next((place for place in places if place), None)
    if by := _told(before, head, outermost):
        return by, None
    if outermost is None or frames.own_frame(outermost) is None or headers.remote(head):
        return None, None
    return ("interpreter", ":".join(outermost[:2])) if outermost[2] == "<module>" else ("handler", None)


def _told(before: str, head: str, outermost: tuple[str, str, str] | None) -> str | None:
    """What printed a traceback, by the line before it, by its head, and by the module at its top; None: not known."""
    if linebefore.is_thread(before):
        return "thread"
    if _warns(before, head, outermost):
        return "warning"
    if outermost and outermost[2] == "<module>" and frames.is_installed(outermost[0]):
        return "library"
    if outermost and outermost[0] == "<string>" and outermost[2] == "<module>":
        return "command"
    if linebefore.is_record(before) or linebefore.is_record(head):
        return "logger"
    return "child" if linebefore.is_child(before) else None


def _warns(before: str, head: str, outermost: tuple[str, str, str] | None) -> bool:
    """Whether a traceback is the text of a warning: a warning is printed before it, and its outermost frame is not one
    at which a program begins; or each of its lines is a record of that level.
    """
    if linebefore.is_warning_record(head):
        return True
    begins = outermost is None or frames.begins_program(outermost[2])
    return not begins and linebefore.is_warning(before)


def _completed(one: Printed) -> Printed:
    """The traceback with its first exception and its innermost frame."""
    found, lines = one.found, one.lines
    bare = lines.bare()  # lines below it may be another process's
    ending = next((texts for i in range(bare, len(lines.text)) if (texts := lines.ending(i))), None)
    if ending:
        ending = lines.converted(ending) or ending
        one.end(ending, one.place(ending.at))
        found.more = None if ending.says else lines.more(ending.at)
    for i in range((ending.at if ending else bare) - 1, 0, -1):
        place = lines.place(i)
        if place is not None:
            found.deep = one.place(i) if found.deep is None and i < bare else found.deep
            found.frame = found.frame or frames.own_frame(place)
            if found.deep is not None and found.frame is not None:
                break
    return one
