"""The measure before several of its values: `MSE: train 0.5, val 0.6`, `→ Rewards | Chosen: 2.1 | Rejected: 0.4`.

The names of such values (`train`, `Chosen`) are completed by the label. A label ends where what separates the values
changes, or where a value has the name of a result itself.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from loganalyst.sources.text.lines.numberwords import CONFIGURED, EPOCH, NEVER, STEP, STRONG, WEAK, plain_name

_WORDS = r"[^\W\d_][\w.@/\-]{0,19}(?: [\w.@/\-]{1,15}){0,2}?"
# `MSE: train: `, `→ Rewards | Chosen: `, `Loss (train: `, `, AUC -- train `
_OPENS = re.compile(rf"(?:^|[|,;(\[\])]|\s)\s*({_WORDS})\s?(?::|=>|->|→|--|-(?=\s)|=|\||\()\s*({_WORDS})\s?[:=]?\s?$")
# `, val `, ` | Rejected: `, ` / test=`
_GOES_ON = re.compile(rf"^\s?%?\s?([,|/;]|->|→|)\s?({_WORDS})\s?[:=]?\s?$")


class Named(Protocol):
    """A number of a line: its slot, its name as printed and in plain words, whether `:` or `=` stands behind it."""

    index: int
    key: str
    plain: str
    separated: bool


def complete(numbers: Sequence[Named], texts: Sequence[str]) -> None:
    """Add the label to the names that it completes; `texts` are the line's texts between its numbers."""
    label, between, last = "", None, -2
    for n in numbers:
        goes_on = _GOES_ON.match(texts[n.index][:120]) if label and n.index == last + 1 else None
        if goes_on and between in (None, goes_on[1]):
            between = goes_on[1]
        else:
            label, between = _opened(texts[n.index][-120:]), None
        label = label if label and _is_bare(n.plain) else ""
        if label:
            n.key, n.plain, n.separated, last = f"{n.key} {label}", f"{n.plain} {label.lower()}", True, n.index


def _opened(text: str) -> str:
    """The label before a name, if it is a measure; else nothing."""
    found = _OPENS.search(text)
    plain = plain_name(found[1]) if found else ""
    measures = bool(STRONG.search(plain)) and not CONFIGURED.search(plain)
    return found[1] if found and measures else ""


def _is_bare(plain: str) -> bool:
    """Whether a name says neither a measure nor a position."""
    known = (STRONG.search(plain), WEAK.search(plain), STEP.match(plain), EPOCH.match(plain), NEVER.search(plain))
    return bool(plain) and not any(known)
