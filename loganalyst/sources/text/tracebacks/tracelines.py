"""The kind of each line of a Python traceback (header, frame, exception), behind margins, stamps and boxes."""

import re
from bisect import bisect_right
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import polars as pl

HEADER = "Traceback (most recent call last)"
REMOTE = "() (pid="  # in Ray's header of a task's traceback: `ray::f() (pid=7, ip=10.0.0.1)`
MAX_ROWS = 400  # rows of one printer between a header and its exception
# Paths of libraries: `/x/site-packages/torch/a.py`, `/usr/lib/python3.11/a.py`, `<frozen runpy>`,
# `C:\Python311\lib\a.py`
LIBRARY = (
    r"site-packages|dist-packages|/lib/python\d|^<frozen|[\\/][Ll]ib[\\/]runpy\.py|[\\/]Lib[\\/]"
    r"|[\\/]Python\d+[\\/]lib[\\/]|^<string>|[\\/]bin[\\/][\w-]+$"
    r"|(?i:[\\/](?:(?:ana|mini)conda\d?|envs[\\/][^\\/]+|\.?venv)[\\/]lib[\\/])"  # Python's own library on Windows
    r"|(?:^|[\\/])\w+\.p(?:yx|xi)$|^stringsource$"  # compiled code that a Python frame called: `h5py/h5o.pyx`
    # checkouts of libraries that are used rather than written: repository and package
    r"|(?i:[\\/](?:transformers|accelerate|peft|diffusers)(?:-[\w.]+)?[\\/]src[\\/])"
    r"|(?i:[\\/](?:deepspeed[\\/]deepspeed|vllm[\\/]vllm|pytorch\w*[\\/](?:work[\\/])?torch)[\\/])"
)
# ` File "train.py", line 3, in main`; faulthandler leaves the second comma out
FRAME = r'^[\s>]*File "([^"]+)", line (\d+)(?:,? in (.+))?$'

# `torch.cuda.`
# Python's engine backtracks, and its memory grows with the repetitions of a group. So a path is a row of characters
# whose dots are followed by a name, which takes linear time. All these regexes are matched at the beginning of a line.
_PATH = r"(?![\w.]*\.[^A-Za-z_])(?:[A-Za-z_][\w.]*\.)?"
_SUFFIXES = "Error|Exception|Interrupt|Exit|Failure|Failed|Timeout|Fault|Warning|Group|Abort|StopIteration"
# `torch.cuda.OutOfMemoryError: CUDA out of memory`, `KeyboardInterrupt`, `RayTaskError(ValueError): x`
_STRICT = re.compile(rf"({_PATH}(?=[A-Z_])(?=\w*?(?:{_SUFFIXES}))\w+(?:(?<=TaskError)\(\w+\))?)(?:\s*:\s*(.*))?$")
# `queue.Empty`; only right below the frames, because an exception may have any name
_LOOSE = re.compile(rf"({_PATH}[A-Z]\w*)(?:: (.*))?$")
_FRAME, _LIBRARY = re.compile(FRAME), re.compile(LIBRARY)
# `│ /a/train.py:3 in main`; the place may begin on the lines above
_RICH_FRAME = re.compile(r"│\s+(?:(\S*\d) )?in(?: ([^\s│]+))?(?=[ │])")
# `│ /a/very/long/path/ │`: a part of a place or a name that did not fit on one line
_RICH_PART = re.compile(r"│ (\S+) +│$")
_MAX_PLACE_LINES = 16  # lines of one place
_PLACE = re.compile(r"(.+):(\d+)$")  # `/a/train.py:3`
_INDENTED = " │╭╰\t\r\v\f\x85\xa0"  # first characters of the lines between header and exception
# ` +---------------- 1 ----------------`, `╭─ Sub-exception #1 ─`: members of an exception group follow one another
# behind a margin, some without a header
_MEMBER = re.compile(r"\s*\+[-+]+ \d+ -+$|(?:│ )*╭─+ Sub-exception #\d+ ─")
_MEMBERS = ("+----", "Sub-exception #")
# ` | Traceback`; a member's line without a blank behind the margin: ` |`
_MARGIN, _MARGIN_OR_BAR = re.compile(r"(\s+)[|+] "), re.compile(r"\s*[|] ?")
_BOXES = re.compile(r"(?:│ )+")  # `│ │ `: rich draws boxes instead of margins
_BOX_DEPTH = 4  # depth of one box
_FOREIGN = "? "  # put before a line without the margin: it does not belong to this traceback
_DIGITS = str.maketrans("123456789", "0" * 9)
# ` + Exception Group Traceback (most recent call last):`, and the last line of a group `
# +------------------------------------`
_GROUP, _GROUP_END = re.compile(r" {1,2}\+ Exception Group Traceback"), re.compile(r" {3,4}\+-{20,}$")
_HANDLING = "During handling of the above exception"
_CHAIN = ("The above exception was the direct cause of", _HANDLING)
_ABOVE = "above exception"
_HARMLESS = (
    *("Exception ignored in", "Exception in thread", "Error in atexit", "Error in sys.excepthook"),
    ", in __del__",
)
_IGNORED = ("Exception ignored in", "Error in sys.excepthook", ", in __del__")  # none of them ends a process
# `2026-01-10 10:01:00,000 ERROR worker: failed to parse`, `[10:01:00] [WARNING] step skipped`, `ERROR:root:failed`
_RECORD = re.compile(
    r"(?:.{0,60}\d\d:\d\d.{0,40}?[\s\[|:-])?\[?(?:ERROR|WARNING|WARN|CRITICAL)\b[\]\s:|-]|\[[EW] \d{4}-\d\d-\d\d "
)
# A warning of Python, whose text follows: `a.py:31: RuntimeWarning: the slow path is used:`
_PYTHON_WARNING = re.compile(r"(?:[^\s:]|:\\){1,300}:\d+: [\w.]{0,60}Warning: ")
# A record of that level: `WARNING:root:no apex`, `2026-01-10 10:01:00,000 WARNING tune: trial failed`
_WARNING = re.compile(r"(?:.{0,60}\d\d:\d\d.{0,40}?[\s\[|:-])?\[?WARN(?:ING)?\b[\]\s:|-]|\[W \d")
# Each line of a record of glog has its level: `[rank0]:W0202 10:00:02.100000 811 a.py:7] Traceback`
_GLOG_WARNING = re.compile(r"(?:\[\w+\]:? ?)?\[?W\d{3,4} \d\d:\d\d:")
_TOPS = ("<module>", "_bootstrap", "_bootstrap_inner", "_run_module_as_main", "_run_code", "spawn_main")
_INSTALLED = re.compile(r"[\\/](?:site|dist)-packages[\\/]")
# `Process Uploader-2:`; the traceback of a process that the program started with `multiprocessing` follows
_CHILD = re.compile(r"Process [\w.:-]{1,80}:$")
# `Exception in thread Thread-3 (_monitor):`; the traceback of a thread follows, whose end does not end the program
_THREAD = re.compile(r"Exception in thread [\w.:() -]{1,80}:$")
# A call that goes behind the training, and one of the training: `preds = model.predict(x)`, `train(model, loader)`
_LATE_CALL = re.compile(
    r"\b(?:predict|test|evaluate|eval|infer|inference|export|push_to_hub|savefig|save_pretrained|to_csv|quantize|convert)"
    r"(?:_model|_on_test|_all|_results?|_proba|_onnx|_predictions?)?\(|\bplot_\w+\("
)
_TRAINING_CALL = re.compile(r"(?:train|fit)\w{0,60}\(")
# `-- Process 3 terminated with the following error:`; another process's traceback follows
_NEXT_PROCESS = re.compile(r"-- Process (\d{1,9}) terminated with the following error:")
# `4 fits failed with the following error:`, in the message of scikit-learn's exception above
_FITS = re.compile(r"\d{1,9} fits failed with the following error:")
# The message of such an exception is indented
_IN_USER_CODE, _CODE_INDENT = "in user code:", 4
_TASK = re.compile(r"\d+(?:, (?:ip|host)=([\w.:-]+))?")  # `7, ip=10.0.0.1` behind `(pid=`
_RAY = ("ray::", "RayTaskError")  # before a task's name; old Ray wrote `ray_Train:train()`
_ORIGINAL = "Original Traceback"
_WORD = re.compile(r"\w")
_MAX_ROWS_TO_MESSAGE = 3  # rows below an exception without message that may hold one


class Printer(NamedTuple):
    """The rows of one process, as far as prefixes distinguish processes: positions and texts, in file order."""

    prefix: str
    at: list[int]
    texts: list[str]


class Ending(NamedTuple):
    """The line (position in its traceback) that names the exception, and its message."""

    at: int
    name: str
    says: str | None


class Lines(NamedTuple):
    """The lines of one traceback from its header on, without a group member's margin, an indent, a logger's stamp or a
    box around them. `depth` is the width of the margin.
    """

    text: list[str]
    depth: int

    def ending(self, i: int) -> Ending | None:
        """The exception that line `i` names. A line with an odd name above a frame is another process's."""
        text = self.text[i]
        if text[:1] in _INDENTED or "%|" in text:
            return None
        hit = _STRICT.match(text)
        if hit is None and self.text[i - 1][:1] in _INDENTED and not self._is_frame(i + 1):
            hit = _LOOSE.match(text)
        return Ending(i, hit[1], hit[2]) if hit else None

    def converted(self, ending: Ending) -> Ending | None:
        """The exception in the message of another: TensorFlow prints errors in converted code that way."""
        if ending.says != _IN_USER_CODE:
            return None
        below = takewhile(lambda k: self.text[k][:1] in _INDENTED, range(ending.at + 1, len(self.text)))
        found = ((k, _STRICT.match(self.text[k][_CODE_INDENT:])) for k in below)
        return next((Ending(k, hit[1], hit[2]) for k, hit in found if hit), None)

    def indented(self, i: int) -> bool:
        """Whether line `i` may be between a header and its exception."""
        return self.text[i][:1] in _INDENTED

    def bare(self) -> int:
        """The first line below the header without an indent (the number of lines if there is none)."""
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
        texts = reversed(self.text[max(i - _MAX_PLACE_LINES, 0) : i])
        parts = takewhile(bool, (hit and hit[1] for hit in map(_RICH_PART.match, texts)))
        return "".join(reversed([part for part in parts if part]))

    def late(self) -> bool:
        """Whether the user's code left the training behind: a frame calls what follows it, and none trains."""
        own = [i for i in range(1, len(self.text) - 1) if self.frame(i)]
        code = [self.text[i + 1] for i in own]
        return any(map(_LATE_CALL.search, code)) and not any(map(_TRAINING_CALL.search, code))

    def frame(self, i: int) -> str | None:
        """The frame on line `i` as "file:line in function"; None if it is in a library."""
        place = self.place(i)
        return place and own_frame(place)

    def more(self, i: int) -> str | None:
        """The first message in the lines below the exception on line `i`."""
        for k in range(i + 1, min(i + 1 + _MAX_ROWS_TO_MESSAGE, len(self.text))):
            text = self.text[k]
            if _WORD.search(text) and HEADER not in text and not chained(text) and not self.ending(k):
                return text.removeprefix(_FOREIGN).strip()
        return None


def printers(rows: pl.DataFrame) -> list[Printer]:
    """The `rows` (prefix, body) by printer, in the order of their prefixes."""
    prefix, texts = rows["prefix"].to_list(), rows["body"].to_list()
    if len(set(prefix)) == 1:
        return [Printer(prefix[0], list(range(len(texts))), texts)]
    found: dict[str, Printer] = {}
    for at, (name, text) in enumerate(zip(prefix, texts, strict=True)):
        one = found.get(name) or found.setdefault(name, Printer(name, [], []))
        one.at.append(at)
        one.texts.append(text)
    return [found[name] for name in sorted(found)]


def heads(texts: list[str]) -> list[int]:
    """The lines where tracebacks begin."""
    return [i for i in _lines_with(texts, HEADER, REMOTE, *_MEMBERS) if _begins(texts, i)]


def links(texts: list[str]) -> list[int]:
    """The lines that say that the next traceback follows from the one above."""
    return _lines_with(texts, *_CHAIN)


def handlings(texts: list[str]) -> list[int]:
    """The lines that say that the next traceback was raised while the exception above was handled."""
    return _lines_with(texts, _HANDLING)


def _lines_with(texts: list[str], *words: str) -> list[int]:
    """The lines that contain any of the words; all lines are searched at once."""
    text = "\n".join(texts)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1).tolist()
    found: set[int] = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            i = bisect_right(ends, at)
            found.add(i)
            at = text.find(word, ends[i])
    return sorted(found)


def _begins(texts: list[str], i: int) -> bool:
    """Whether a traceback begins on line `i`."""
    text = texts[i]
    if HEADER in text or remote(text):
        return True
    return (
        _MEMBER.match(text) is not None and i + 1 < len(texts) and HEADER not in texts[i + 1]
    )  # without a header of its own


def without_margins(texts: list[str], first: int, end: int) -> Lines:
    """The traceback that begins on line `first` and ends before `end`, without margins."""
    text, opening = texts[first:end], texts[first]
    if HEADER not in opening and len(text) > 1 and _MEMBER.match(opening):
        opening = text[1]
    if margin := _MARGIN.match(opening):
        return Lines([_without_margin(line) for line in text], len(margin[1]))
    if boxes := _BOXES.match(opening):
        n = len(boxes[0]) // 2
        return Lines([_unboxed(line, n) for line in text], n * _BOX_DEPTH)
    lead = opening[: max(opening.find("Traceback (most"), 0)]
    lead = lead.removesuffix("Exception Group ").removesuffix("Original ")
    if not lead:
        return Lines(text, 0)
    width, same, indent = len(lead), lead.translate(_DIGITS), lead[: len(lead) - len(lead.lstrip())]
    return Lines([t[width:] if t[:width].translate(_DIGITS) == same else t.removeprefix(indent) for t in text], 0)


def _without_margin(text: str) -> str:
    """A line without its margin."""
    if hit := _MARGIN_OR_BAR.match(text):
        return text[hit.end() :]
    return text if text[:1] in _INDENTED else _FOREIGN + text


def _unboxed(text: str, n: int) -> str:
    """A line without the `n` boxes around it."""
    for _ in range(n):
        if text.startswith("│ "):
            text = text[2:].removesuffix("│").rstrip()
    return text


def own_frame(place: tuple[str, str, str]) -> str | None:
    """A frame as "file:line in function" if it is outside libraries."""
    return None if _LIBRARY.search(place[0]) else f"{place[0]}:{place[1]} in {place[2]}"


def remote(text: str) -> re.Match[str] | None:
    """Ray's header of a task's traceback; the group is the node's address."""
    at = text.find(REMOTE)
    return _TASK.match(text, at + len(REMOTE)) if at > 0 and any(word in text[:at] for word in _RAY) else None


def chained(text: str) -> bool:
    """Whether a line says that the next traceback follows from this one."""
    return _ABOVE in text and any(words in text for words in _CHAIN)


def harmless(text: str) -> bool:
    """Whether a line precedes a traceback of the interpreter's clean-up or of a side thread, or is its first frame."""
    return any(words in text for words in _HARMLESS)


def ignored(text: str) -> bool:
    """Whether a line precedes an exception that the interpreter ignored, or is its first frame."""
    return any(words in text for words in _IGNORED)


def is_thread(text: str) -> bool:
    """Whether a line precedes the traceback that ended a thread of the program.

    >>> is_thread("Exception in thread Thread-3 (_monitor):")
    True
    """
    return _THREAD.match(text) is not None


def is_record(text: str) -> bool:
    """Whether a line is a log record of an error or a warning."""
    return _RECORD.match(text) is not None


def is_warning(text: str) -> bool:
    """Whether a line begins a warning of Python, or is a log record of a warning."""
    return _PYTHON_WARNING.match(text) is not None or _WARNING.match(text) is not None


def is_warning_record(text: str) -> bool:
    """Whether a line is part of a warning whose lines all bear its level."""
    return _GLOG_WARNING.match(text) is not None


def begins_program(function: str) -> bool:
    """Whether a program or one of its processes begins in such a frame."""
    return function in _TOPS


def is_installed(path: str) -> bool:
    """Whether a file belongs to an installed package."""
    return _INSTALLED.search(path) is not None


def is_child(before: str) -> bool:
    """Whether the line before a traceback names a process that the program started."""
    return _CHILD.match(before) is not None


def next_process(before: str) -> int | None:
    """The process whose traceback follows, if the line before it names one."""
    hit = _NEXT_PROCESS.match(before)
    return int(hit[1]) if hit else None


def is_quoted(before: str) -> bool:
    """Whether the line before a traceback says that the exception above is about the one that follows."""
    return next_process(before) is not None or _FITS.match(before) is not None


def open_group(texts: list[str]) -> int | None:
    """The header of an exception group whose members may go on behind the last line."""
    for i in range(len(texts) - 1, -1, -1):
        if "+" in texts[i]:
            if _GROUP_END.match(texts[i]):  # (a prefix may have taken a blank)
                return None
            if _GROUP.match(texts[i]):
                return i
    return None
