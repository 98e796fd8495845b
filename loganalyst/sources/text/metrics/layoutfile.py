"""Layouts of printed numbers (`rules/layouts.yaml`): what each looks like, and as what it is written again."""

import re
from functools import cache

from msgspec import field

from loganalyst.errors import RuleError, nearest
from loganalyst.rulefiles import Shape, Text, Texts, ours
from loganalyst.sources.text.lines.numberwords import BAR, CLOCK, JOIN, KERAS
from loganalyst.sources.text.metrics.numbertext import NUMBER

_FILE = "layouts.yaml"
_KNOWN = {"value": NUMBER, "bar": BAR, "clock": CLOCK, "join": JOIN, "keras": KERAS}
_PART = re.compile(r"<([a-z_]+)>")  # `<value>`


class Layout(Shape, frozen=True):
    """A layout, with an example (`line`) and what becomes of it. The file says what each field means."""

    line: Text
    becomes: Text = field(name="as")
    regex: Text
    by: str
    texts: Texts
    part: Text | None = None
    lines: Text | None = None


class _LayoutFile(Shape, frozen=True):
    parts: dict[str, Text]
    wide: dict[str, str]
    layouts: tuple[Layout, ...]


@cache
def layouts() -> tuple[Layout, ...]:
    """The layouts in the order in which they are applied, with their parts filled in. Raises RuleError."""
    return tuple(
        Layout(
            filled(entry.line), filled(entry.becomes), filled(entry.regex), filled(entry.by), entry.texts,
            entry.part and filled(entry.part), entry.lines and filled(entry.lines),
        )
        for entry in _file().layouts
    )  # fmt: skip


def wide_characters() -> dict[str, str]:
    """Characters that stand for narrow ones, and those."""
    return _file().wide


def filled(text: str) -> str:
    """A text with the parts and marks that it names filled in.

    >>> filled("at <clock>") == "at \\x01", filled(r"\\b<of>\\b")
    (True, '\\\\b(?:из|de|von|sur|di|van|ze?|av|af|dari)\\\\b')
    """
    known = {**_file().parts, **_KNOWN}
    while names := _PART.findall(text):
        for name in names:
            if name not in known:
                raise RuleError(f"rules/{_FILE}", f"no part {name!r}", nearest(name, known) or "see the file")
            text = text.replace(f"<{name}>", known[name])
    return text


@cache
def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """The regex of Python's with the parts that it names: `regex("<time>")`."""
    return re.compile(filled(text), flags)


@cache
def _file() -> _LayoutFile:
    return ours(_FILE, _LayoutFile)
