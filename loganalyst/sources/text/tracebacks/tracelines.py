"""What each line of a Python traceback is: header, frame, the exception; behind margins, stamps and boxes."""

import re
from bisect import bisect_right
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import polars as pl

HEADER = "Traceback (most recent call last)"
REMOTE = "() (pid="  # in Ray's header of what a task printed: `ray::f() (pid=7, ip=10.0.0.1)`
LONGEST = 400  # rows of one printer between a header and its exception
LIBRARY = (
    r"site-packages|dist-packages|/lib/python\d|^<frozen|[\\/][Ll]ib[\\/]runpy\.py|[\\/]Lib[\\/]"
    r"|[\\/]Python\d+[\\/]lib[\\/]|^<string>|[\\/]bin[\\/][\w-]+$"
    r"|(?i:[\\/](?:(?:ana|mini)conda\d?|envs[\\/][^\\/]+|\.?venv)[\\/]lib[\\/])"  # Python's own on Windows
    # checkouts of libraries that are used rather than written: repository and package
    r"|(?i:[\\/](?:transformers|accelerate|peft|diffusers)(?:-[\w.]+)?[\\/]src[\\/])"
    r"|(?i:[\\/](?:deepspeed[\\/]deepspeed|vllm[\\/]vllm|pytorch\w*[\\/](?:work[\\/])?torch)[\\/])"
)
FRAME = r'^[\s>]*File "([^"]+)", line (\d+)(?:,? in (.+))?$'  # faulthandler leaves the second comma out

# Python's engine goes back, and its memory grows with the turns of a repeated group. So a path is characters in a row
# whose dots have a name behind them, and time is linear: all are matched from the beginning of a line.
_PATH = r"(?![\w.]*\.[^A-Za-z_])(?:[A-Za-z_][\w.]*\.)?"  # `torch.cuda.`
_SUFFIX = "Error|Exception|Interrupt|Exit|Failure|Failed|Timeout|Fault|Warning|Group|Abort|StopIteration"
_STRICT = re.compile(rf"({_PATH}(?=[A-Z_])(?=\w*?(?:{_SUFFIX}))\w+(?:(?<=TaskError)\(\w+\))?)(?:\s*:\s*(.*))?$")
_LOOSE = re.compile(rf"({_PATH}[A-Z]\w*)(?:: (.*))?$")  # only right below the frames: exceptions may have any name
_FRAME, _LIBRARY = re.compile(FRAME), re.compile(LIBRARY)
_RICH_FRAME = re.compile(r"│\s+(?:(\S*\d) )?in(?: ([^\s│]+))?(?=[ │])")  # its place: above, all or in part
_RICH_PART = re.compile(r"│ (\S+) +│$")  # of a place or a name that did not fit on one line
_PARTS = 16  # lines of one place
_PLACE = re.compile(r"(.+):(\d+)$")
_INDENTED = " │╭╰\t\r\v\f\x85\xa0"  # what the lines between header and exception begin with
# Members of an exception group stand behind a margin, one below the other, some of them without a header.
_MEMBER = re.compile(r"\s*\+[-+]+ \d+ -+$|(?:│ )*╭─+ Sub-exception #\d+ ─")
_MEMBERS = ("+----", "Sub-exception #")
_MARGIN, _BESIDE = re.compile(r"(\s+)[|+] "), re.compile(r"\s*[|] ?")
_BOXES = re.compile(r"(?:│ )+")  # rich draws boxes in place of margins
_BOX = 4  # depth of one box
_FOREIGN = "? "  # before a line that has no margin: nothing of this traceback
_DIGITS = str.maketrans("123456789", "0" * 9)
_GROUP, _GROUP_END = re.compile(r" {1,2}\+ Exception Group Traceback"), re.compile(r" {3,4}\+-{20,}$")
_CHAIN = ("The above exception was the direct cause of", "During handling of the above exception")
_ABOVE = "above exception"
_HARMLESS = (
    *("Exception ignored in", "Exception in thread", "Error in atexit", "Error in sys.excepthook"),
    ", in __del__",
)
_TOLD = re.compile(r"-- Process (\d{1,9}) terminated with the following error:")  # another process's traceback follows
_IN_USER_CODE, _INSET = "in user code:", 4  # its message is set in
_TASK = re.compile(r"\d+(?:, (?:ip|host)=([\w.:-]+))?")
_RAY = ("ray::", "RayTaskError")  # before a task's name; old Ray wrote `ray_Train:train()`
_ORIGINAL = "Original Traceback"
_WORD = re.compile(r"\w")
_MESSAGE = 3  # rows below an exception without message in which it may stand


class Printer(NamedTuple):
    """The rows of one process, as far as a prefix tells whose they are: positions and texts, in file order."""

    prefix: str
    at: list[int]
    said: list[str]


class Ending(NamedTuple):
    """The line (position in its traceback) that names the exception, and what it says of it."""

    at: int
    name: str
    says: str | None


class Lines(NamedTuple):
    """The lines of one traceback from its header on, without what stands before (and, in a box, behind) each of them:
    a group member's margin, an indent, a logger's stamp. `depth` is the width of the margin.
    """

    text: list[str]
    depth: int

    def ending(self, i: int) -> Ending | None:
        """The exception that line `i` names; below it a frame: it is another process's line, if it has an odd name."""
        text = self.text[i]
        if text[:1] in _INDENTED or "%|" in text:
            return None
        hit = _STRICT.match(text)
        if hit is None and self.text[i - 1][:1] in _INDENTED and not self._is_frame(i + 1):
            hit = _LOOSE.match(text)
        return Ending(i, hit[1], hit[2]) if hit else None

    def retold(self, ending: Ending) -> Ending | None:
        """The exception in the message of another: TensorFlow prints so what was raised in code that it converted."""
        if ending.says != _IN_USER_CODE:
            return None
        below = takewhile(lambda k: self.text[k][:1] in _INDENTED, range(ending.at + 1, len(self.text)))
        found = ((k, _STRICT.match(self.text[k][_INSET:])) for k in below)
        return next((Ending(k, hit[1], hit[2]) for k, hit in found if hit), None)

    def indented(self, i: int) -> bool:
        """Whether line `i` may stand between a header and its exception."""
        return self.text[i][:1] in _INDENTED

    def bare(self) -> int:
        """The first line below the header that stands behind no indent (their number if none)."""
        below = (i for i, text in enumerate(self.text) if text[:1] not in _INDENTED and i)
        return next(below, len(self.text))

    def _is_frame(self, i: int) -> bool:
        return i < len(self.text) and _FRAME.match(self.text[i]) is not None

    def place(self, i: int) -> tuple[str, str, str] | None:
        """File, line and function (`?` where there is none) of the frame on line `i`."""
        text = self.text[i]
        if 'File "' in text and (hit := _FRAME.match(text)):
            return hit[1], hit[2], hit[3] or "?"
        if text[:1] != "│" or not (hit := _RICH_FRAME.match(text)):
            return None
        if not (found := _PLACE.match(self._above(i) + (hit[1] or ""))):
            return None
        name = None if hit[2] or i + 1 == len(self.text) else _RICH_PART.match(self.text[i + 1])
        return found[1], found[2], hit[2] or (name[1] if name else "?")

    def _above(self, i: int) -> str:
        """The parts of a place that fill the lines of a box above line `i`."""
        said = reversed(self.text[max(i - _PARTS, 0) : i])
        parts = takewhile(bool, (hit and hit[1] for hit in map(_RICH_PART.match, said)))
        return "".join(reversed([part for part in parts if part]))

    def frame(self, i: int) -> str | None:
        """The frame on line `i`, as `own` has it."""
        place = self.place(i)
        return place and own(place)

    def more(self, i: int) -> str | None:
        """What the lines below the exception on line `i` say first."""
        for k in range(i + 1, min(i + 1 + _MESSAGE, len(self.text))):
            text = self.text[k]
            if _WORD.search(text) and HEADER not in text and not chained(text) and not self.ending(k):
                return text.removeprefix(_FOREIGN).strip()
        return None


def printers(rows: pl.DataFrame) -> list[Printer]:
    """The `rows` (prefix, body) by printer, in the order of their prefixes."""
    prefix, said = rows["prefix"].to_list(), rows["body"].to_list()
    if len(set(prefix)) == 1:
        return [Printer(prefix[0], list(range(len(said))), said)]
    found: dict[str, Printer] = {}
    for at, (name, text) in enumerate(zip(prefix, said, strict=True)):
        one = found.get(name) or found.setdefault(name, Printer(name, [], []))
        one.at.append(at)
        one.said.append(text)
    return [found[name] for name in sorted(found)]


def heads(said: list[str]) -> list[int]:
    """Where tracebacks begin."""
    return [i for i in _with(said, HEADER, REMOTE, *_MEMBERS) if _begins(said, i)]


def links(said: list[str]) -> list[int]:
    """The lines that say that the next traceback follows from the one above."""
    return _with(said, *_CHAIN)


def _with(said: list[str], *words: str) -> list[int]:
    """The lines in which any of the words stands; looked for in all lines at once."""
    text = "\n".join(said)
    ends = np.cumsum(np.fromiter(map(len, said), np.int64, len(said)) + 1).tolist()
    found: set[int] = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            i = bisect_right(ends, at)
            found.add(i)
            at = text.find(word, ends[i])
    return sorted(found)


def _begins(said: list[str], i: int) -> bool:
    text = said[i]
    if HEADER in text or remote(text):
        return True
    return _MEMBER.match(text) is not None and i + 1 < len(said) and HEADER not in said[i + 1]  # it has none of its own


def bared(said: list[str], first: int, end: int) -> Lines:
    """The traceback that begins on line `first` and ends before `end`."""
    text, opening = said[first:end], said[first]
    if HEADER not in opening and len(text) > 1 and _MEMBER.match(opening):
        opening = text[1]
    if margin := _MARGIN.match(opening):
        return Lines([_beside(line) for line in text], len(margin[1]))
    if boxes := _BOXES.match(opening):
        n = len(boxes[0]) // 2
        return Lines([_unboxed(line, n) for line in text], n * _BOX)
    lead = opening[: max(opening.find("Traceback (most"), 0)]
    lead = lead.removesuffix("Exception Group ").removesuffix("Original ")
    if not lead:
        return Lines(text, 0)
    width, same, indent = len(lead), lead.translate(_DIGITS), lead[: len(lead) - len(lead.lstrip())]
    return Lines([t[width:] if t[:width].translate(_DIGITS) == same else t.removeprefix(indent) for t in text], 0)


def _beside(text: str) -> str:
    if hit := _BESIDE.match(text):
        return text[hit.end() :]
    return text if text[:1] in _INDENTED else _FOREIGN + text


def _unboxed(text: str, n: int) -> str:
    for _ in range(n):
        if text.startswith("│ "):
            text = text[2:].removesuffix("│").rstrip()
    return text


def own(place: tuple[str, str, str]) -> str | None:
    """A frame as "file:line in function" where it is outside libraries."""
    return None if _LIBRARY.search(place[0]) else f"{place[0]}:{place[1]} in {place[2]}"


def remote(text: str) -> re.Match[str] | None:
    """Ray's header of a task's traceback: its group is the node's address."""
    at = text.find(REMOTE)
    return _TASK.match(text, at + len(REMOTE)) if at > 0 and any(word in text[:at] for word in _RAY) else None


def chained(text: str) -> bool:
    """Whether a line says that the next traceback follows from this one."""
    return _ABOVE in text and any(words in text for words in _CHAIN)


def harmless(text: str) -> bool:
    """Whether a line opens what the interpreter's clean-up or a side thread prints, or is the first frame of such."""
    return any(words in text for words in _HARMLESS)


def told(before: str) -> int | None:
    """The process whose traceback follows, if the line before it says so."""
    hit = _TOLD.match(before)
    return int(hit[1]) if hit else None


def open_group(said: list[str]) -> int | None:
    """The header of an exception group whose members may go on behind the last line."""
    for i in range(len(said) - 1, -1, -1):
        if "+" in said[i]:
            if _GROUP_END.match(said[i]):  # (a prefix may have taken a blank)
                return None
            if _GROUP.match(said[i]):
                return i
    return None
