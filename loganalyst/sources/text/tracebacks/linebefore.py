"""What the line before a traceback says of it: whose traceback it is, and whether it ends the program."""

import re

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
# `Process Uploader-2:`; the traceback of a process that the program started with `multiprocessing` follows
_CHILD = re.compile(r"Process [\w.:-]{1,80}:$")
# `Exception in thread Thread-3 (_monitor):`; the traceback of a thread follows, whose end does not end the program
_THREAD = re.compile(r"Exception in thread [\w.:() -]{1,80}:$")
# `-- Process 3 terminated with the following error:`; another process's traceback follows
_NEXT_PROCESS = re.compile(r"-- Process (\d{1,9}) terminated with the following error:")
# `4 fits failed with the following error:`, in the message of scikit-learn's exception above
_FITS = re.compile(r"\d{1,9} fits failed with the following error:")


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
