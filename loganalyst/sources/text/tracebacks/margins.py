"""Takes the margin, the indent, the stamp or the boxes off the lines of a traceback."""

import re

from loganalyst.sources.text.tracebacks.headers import HEADER, MEMBER
from loganalyst.sources.text.tracebacks.tracelines import FOREIGN, INDENTED, Lines

# ` | Traceback`; a member's line without a blank behind the margin: ` |`
_MARGIN, _MARGIN_OR_BAR = re.compile(r"(\s+)[|+] "), re.compile(r"\s*[|] ?")
_BOXES = re.compile(r"(?:│ )+")  # `│ │ `: rich draws boxes instead of margins
_BOX_DEPTH = 4  # depth of one box
_DIGITS = str.maketrans("123456789", "0" * 9)


def without_margins(texts: list[str], first: int, end: int) -> Lines:
    """The traceback that begins on line `first` and ends before `end`, without margins."""
    text, opening = texts[first:end], texts[first]
    if HEADER not in opening and len(text) > 1 and MEMBER.match(opening):
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
    return text if text[:1] in INDENTED else FOREIGN + text


def _unboxed(text: str, n: int) -> str:
    """A line without the `n` boxes around it."""
    for _ in range(n):
        if text.startswith("│ "):
            text = text[2:].removesuffix("│").rstrip()
    return text
