"""The `repr` of results: one line that names what a value is. A prompt or a debugger never floods the screen."""

from collections.abc import Sized
from dataclasses import MISSING, Field, fields
from datetime import datetime
from pathlib import PurePath
from typing import Any

MAX_TEXT = 60  # characters of a text
MAX_LINE = 400  # characters of the whole


class Short:
    """A dataclass with a short `repr`: fields that are not empty, texts cut, and of what holds many its size.

    The dataclass is declared with `repr=False`, else its own `repr` would hide this one.

    >>> from loganalyst.model import Fix
    >>> Fix(change="lr: 0.1 -> 0.01", expected_impact="", verify="the loss falls")
    Fix(change='lr: 0.1 -> 0.01', verify='the loss falls')
    """

    def __repr__(self) -> str:
        told = [f for f in fields(self) if _telling(self, f)]  # type: ignore[arg-type]
        told.sort(key=lambda f: _many(getattr(self, f.name)))  # what a value is before what it holds
        line = f"{type(self).__name__}({', '.join(f'{f.name}={_shown(getattr(self, f.name))}' for f in told)})"
        return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 2]}…)"


def _telling(owner: object, of: Field[Any]) -> bool:
    """Whether the field has a value of its own: not empty, and not the default."""
    value = getattr(owner, of.name)
    if value is None or (_many(value) and not len(value)) or (isinstance(value, str) and not value):
        return False
    return of.default is MISSING or value is not of.default


def _many(value: object) -> bool:
    """Whether the value holds others, which are counted and not shown."""
    return isinstance(value, Sized) and not isinstance(value, str)


def _shown(value: Any) -> str:
    if isinstance(value, (str, PurePath)):
        text = str(value)
        return repr(text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…")
    if isinstance(value, (float, datetime)):
        return f"{value:.4g}" if isinstance(value, float) else f"{value:%Y-%m-%d %H:%M:%S}"
    if _many(value):
        return f"<{len(value):,}{' rows' if hasattr(value, 'columns') else ''}>"
    text = repr(value)
    return text if len(text) <= MAX_TEXT else f"<{type(value).__name__} {getattr(value, 'name', '')!s:.40}>"
