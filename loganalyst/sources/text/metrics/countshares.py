"""Numbers that are printed as a part of a total: `3/10`, `3 of 10`."""

import re
from collections.abc import Mapping

from loganalyst.sources.text.lines.numberwords import (
    SPLIT,
    STRONG,
)
from loganalyst.sources.text.metrics.shapenumber import Number

_OF_TOTAL = re.compile(r"(?<=\w) ?/ ?(?:total|num|max|n|all)\b[\w ]*$")  # `step/total_step: 5/60`
_HITS = re.compile(r"\bcorrect$")  # `Correct: 9129/10000`
_OF = re.compile(r"\s?/\s?|\sof\s")  # `3/10`, `3 of 10`
_BEHIND_PERCENT = re.compile(r"\s?%\s?[,;:]?\s?[(\[]\s?")  # `98.3% (`, `20.78%, (`


def mark_fractions(numbers: list[Number], texts: list[str]) -> None:
    """Mark the n of `i/n`. A result printed as `i/n` is the share, and no position.

    With its percentage, as in `i/n (p%)` and `p% (i/n)`, it is 100 i/n, of which p has fewer digits.
    """
    by_index = {n.index: n for n in numbers}
    for n in numbers:
        total = by_index.get(n.index + 1)
        if n.role or not total or not _OF.fullmatch(texts[n.index + 1]):
            continue
        total.drop()
        n.plain = _OF_TOTAL.sub("", n.plain)
        if SPLIT.fullmatch(n.plain):
            n.drop()
        if _is_result(n):
            _take_share(n, total, texts)
        elif (percentage := _percentage_before(n, by_index, texts)) is not None:
            percentage.count, percentage.over = n.index, total.index
        else:
            total.role = "total"


def _is_result(n: Number) -> bool:
    return bool(STRONG.search(n.plain) or _HITS.search(n.plain))


def _take_share(n: Number, total: Number, texts: list[str]) -> None:
    """Make `n` the share of its total, or the percentage behind both."""
    if _HITS.search(n.plain):
        n.key, n.plain = f"{n.key} (accuracy)", f"{n.plain} accuracy"
    n.over = total.index
    percent = re.fullmatch(r"\s?[(=\[]?\s?", texts[n.index + 2]) and texts[n.index + 3 :][:1]
    if percent and (percent[0].startswith("%") or not percent[0].strip()):
        n.count, n.index = n.index, n.index + 2


def _percentage_before(n: Number, by_index: Mapping[int, Number], texts: list[str]) -> Number | None:
    """The result in per cent before `n`, which counts its hits: `accuracy: 20.78% (`."""
    before = by_index.get(n.index - 1)
    behind = before is not None and not n.key and _BEHIND_PERCENT.fullmatch(texts[n.index])
    return before if behind and before and _is_result(before) else None
