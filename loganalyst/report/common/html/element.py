"""Elements of a page. `element` escapes every text except `Html`, which it takes as it is."""

import json
from collections.abc import Iterable
from html import escape
from typing import Any

__all__ = ["Child", "Html", "data", "element"]


class Html(str):
    """Text that is HTML, made by `element`."""

    __slots__ = ()


Child = str | Html | Iterable["Child"] | None
_VOID = {"meta", "br", "wbr", "input"}


def element(name: str, /, *children: "Child", **attributes: str | float | bool | None) -> Html:
    """`<name …>children</name>`. Attributes of None and False are left out; `class_` is `class`, `_` a hyphen."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(_attribute(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{''.join(map(_text, children))}</{name}>")


def data(value: Any, **attributes: str) -> Html:
    """A block of JSON for a script. No text in it can end the block or begin another element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return element("script", Html(text), type="application/json", **attributes)


def _attribute(value: str | float | bool) -> str:
    return value if isinstance(value, str) else f"{value:.5g}"


def _text(child: "Child") -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return escape(child, quote=False)
    return "".join(map(_text, child))
