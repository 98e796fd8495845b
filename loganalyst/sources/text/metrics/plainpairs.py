"""Layouts of printed numbers, written again as pairs of a name and a number, before a line's form is taken.

The layouts are in `rules/layouts.yaml`. Building a regex of letters in all scripts takes 40 ms, longer than running it
on a short log. There a regex of Python looks for a part of each match first.
"""

from functools import cache

import polars as pl

from loganalyst.sources.text.metrics.layoutfile import Layout, layouts, regex, wide_characters

SHORT = 50_000  # characters: in longer texts one does not look for parts


def rewritten(text: pl.Expr, lowered: str) -> pl.Expr:
    """The lines with these layouts written again; `lowered` is the text of all of them in lower case, whose decimal
    commas and commas between thousands may have been changed since.

    >>> lines = pl.DataFrame({"text": ["dev P/R: 0.5/0.6"]})
    >>> lines.select(rewritten(pl.col("text"), "dev p/r: 0.5/0.6")).item()
    'dev P: 0.5, R: 0.6'
    """
    characters, wide = set(lowered), wide_characters()
    if min(characters, default=" ") < "\t":  # our marks must not occur
        text = text.str.replace_all(r"[\x00-\x08]", "")
    if not characters.isdisjoint(wide):
        text, lowered = text.str.replace_many([*wide], [*wide.values()]), lowered.translate(_narrow())
    changed = False
    for layout in layouts():
        if _may_occur(layout, lowered, changed=changed):
            text, changed = _applied(layout, text), True
    odd = "  " in lowered or any(c.isspace() and c not in " \n" for c in characters)
    return text.str.replace_all(r"\s+", " ") if odd else text


@cache
def _narrow() -> dict[int, str]:
    return {ord(wide): narrow for wide, narrow in wide_characters().items()}


def _may_occur(layout: Layout, lowered: str, *, changed: bool) -> bool:
    """Whether the text, in lower case before another layout `changed` it, may hold the layout."""
    if not any(word in lowered for word in layout.texts):
        return False
    return changed or layout.part is None or len(lowered) > SHORT or regex(layout.part).search(lowered) is not None


def _applied(layout: Layout, text: pl.Expr) -> pl.Expr:
    plain = text.str.replace_all(layout.regex, layout.by)
    return plain if layout.lines is None else pl.when(text.str.contains(layout.lines)).then(plain).otherwise(text)
