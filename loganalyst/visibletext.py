"""Text that we did not write, as one line that is safe to print. It imports the standard library only.

An error is printed by it at any time, also when Ctrl-C has just broken off the import of polars: what imports polars
would then fail with an error of its own.
"""

import re
import unicodedata

# Unicode categories: controls, bidi and joiner marks, surrogates, private and unassigned characters
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
# Escape sequences of a terminal: `ESC [ 31 m` (colour), `ESC ] 0 ; title BEL` (window title), `ESC M` (one letter)
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|[@-_])")


def clean(text: object, limit: int = 400) -> str:
    """One line of visible characters, without escapes, controls and line breaks, cut after `limit` characters."""
    raw = str(text)[: 4 * limit]  # escapes may make up most of it
    if not raw.isprintable():
        raw = "".join(c for c in _ESCAPE.sub("", raw) if c.isspace() or unicodedata.category(c) not in _HIDDEN)
    line = " ".join(raw.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
