"""Numbers that are printed as a part of a total: `3/10`, `3 of 10`."""

import re

from loganalyst.sources.text.lines.numberwords import (
    SPLIT,
    STRONG,
)
from loganalyst.sources.text.metrics.shapenumber import Number

_OF_TOTAL = re.compile(r"(?<=\w) ?/ ?(?:total|num|max|n|all)\b[\w ]*$")  # `step/total_step: 5/60`
_HITS = re.compile(r"\bcorrect$")  # `Correct: 9129/10000`


def mark_fractions(numbers: list[Number], texts: list[str]) -> None:
    """Mark the n of `i/n`. A result printed as `i/n (p%)` is p; without the percentage it is the share."""
    by_index = {n.index: n for n in numbers}
    for n in numbers:
        total = by_index.get(n.index + 1)
        if n.role or not total or not re.fullmatch(r"\s?/\s?|\sof\s", texts[n.index + 1]):  # `3/10`, `3 of 10`
            continue
        total.drop()
        total.role = "total"
        n.plain = _OF_TOTAL.sub("", n.plain)
        if SPLIT.fullmatch(n.plain):
            n.drop()
        if STRONG.search(n.plain) or _HITS.search(n.plain):
            percent = re.fullmatch(r"\s?[(=\[]?\s?", texts[n.index + 2]) and texts[n.index + 3 :][:1]
            total.role = None
            if percent and (percent[0].startswith("%") or not percent[0].strip()):
                n.index += 2
            else:
                n.over = total.index
