"""Where tracebacks begin in the lines of one printer, and which of them follow from the one above."""

import re
from bisect import bisect_right

import numpy as np

HEADER = "Traceback (most recent call last)"
REMOTE = "() (pid="  # in Ray's header of a task's traceback: `ray::f() (pid=7, ip=10.0.0.1)`
# ` +---------------- 1 ----------------`, `╭─ Sub-exception #1 ─`: members of an exception group follow one another
# behind a margin, some without a header
MEMBER = re.compile(r"\s*\+[-+]+ \d+ -+$|(?:│ )*╭─+ Sub-exception #\d+ ─")
_MEMBERS = ("+----", "Sub-exception #")
# ` + Exception Group Traceback (most recent call last):`, and the last line of a group `
# +------------------------------------`
_GROUP, _GROUP_END = re.compile(r" {1,2}\+ Exception Group Traceback"), re.compile(r" {3,4}\+-{20,}$")
_HANDLING = "During handling of the above exception"
_CHAIN = ("The above exception was the direct cause of", _HANDLING)
_ABOVE = "above exception"
_TASK = re.compile(r"\d+(?:, (?:ip|host)=([\w.:-]+))?")  # `7, ip=10.0.0.1` behind `(pid=`
_RAY = ("ray::", "RayTaskError")  # before a task's name; old Ray wrote `ray_Train:train()`


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
        MEMBER.match(text) is not None and i + 1 < len(texts) and HEADER not in texts[i + 1]
    )  # without a header of its own


def remote(text: str) -> re.Match[str] | None:
    """Ray's header of a task's traceback; the group is the node's address."""
    at = text.find(REMOTE)
    return _TASK.match(text, at + len(REMOTE)) if at > 0 and any(word in text[:at] for word in _RAY) else None


def chained(text: str) -> bool:
    """Whether a line says that the next traceback follows from this one."""
    return _ABOVE in text and any(words in text for words in _CHAIN)


def open_group(texts: list[str]) -> int | None:
    """The header of an exception group whose members may go on behind the last line."""
    for i in range(len(texts) - 1, -1, -1):
        if "+" in texts[i]:
            if _GROUP_END.match(texts[i]):  # (a prefix may have taken a blank)
                return None
            if _GROUP.match(texts[i]):
                return i
    return None
