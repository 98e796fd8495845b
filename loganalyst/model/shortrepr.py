"""A `repr` of one line for results, which never floods a prompt or a debugger."""

from collections.abc import Sized
from dataclasses import MISSING, Field, fields
from datetime import datetime
from pathlib import PurePath
from typing import Any

MAX_TEXT = 60  # characters of a text
MAX_LINE = 400  # characters of the whole


class Short:
    """A dataclass with a short `repr`: fields that are not empty, with cut texts, and only the size of containers.

    Declare the dataclass with `repr=False`; otherwise its own `repr` hides this one.

    >>> from loganalyst.model import Fix
    >>> Fix(change="lr: 0.1 -> 0.01", expected_impact="", verify="the loss falls")
    Fix(change='lr: 0.1 -> 0.01', verify='the loss falls')
    """

    def __repr__(self) -> str:
        shown = [f for f in fields(self) if _has_value(self, f)]  # type: ignore[arg-type]
        shown.sort(key=lambda f: _is_container(getattr(self, f.name)))  # containers come last
        line = f"{type(self).__name__}({', '.join(f'{f.name}={_short(getattr(self, f.name))}' for f in shown)})"
        return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 2]}…)"


def _has_value(owner: object, declared: Field[Any]) -> bool:
    """Whether the field has a value that is neither empty nor the default."""
    value = getattr(owner, declared.name)
    if value is None or (_is_container(value) and not len(value)) or (isinstance(value, str) and not value):
        return False
    return declared.default is MISSING or value is not declared.default


def _is_container(value: object) -> bool:
    """Whether the value contains others, which are counted instead of shown."""
    return isinstance(value, Sized) and not isinstance(value, str)


def _short(value: Any) -> str:
    if isinstance(value, (str, PurePath)):
        text = str(value)
        return repr(text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…")
    if isinstance(value, (float, datetime)):
        return f"{value:.4g}" if isinstance(value, float) else f"{value:%Y-%m-%d %H:%M:%S}"
    if _is_container(value):
        return f"<{len(value):,}{' rows' if hasattr(value, 'columns') else ''}>"
    text = repr(value)
    return text if len(text) <= MAX_TEXT else f"<{type(value).__name__} {getattr(value, 'name', '')!s:.40}>"
