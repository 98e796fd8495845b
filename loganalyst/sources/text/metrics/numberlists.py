"""Results that are lists: of all epochs again, of a loss and its metric, or of values by class."""

import re

from loganalyst.sources.text.lines.numberwords import (
    STRONG,
)
from loganalyst.sources.text.metrics.countedwords import WRAPPED
from loganalyst.sources.text.metrics.shapenumber import Number

_OPENS_LIST = re.compile(rf"\[\s?{WRAPPED}['\"]?$")  # `loss: [0.5`, without the number
# `, `, `', '`, `), tensor(`: between the numbers of a list
_BETWEEN = re.compile(rf"['\")\s]*(?:,\s*|\s){WRAPPED}['\"]?")
# A list of two numbers may be one result: its loss and its metric, as Keras evaluates; learning rates are as many as
# there are groups
_PAIR_LENGTH = 2


def drop_histories(numbers: list[Number], texts: list[str], *, rare: bool) -> None:
    """Drop results that are lists: of all epochs again, or a list that goes on in the next line. Lists of equal length
    that are printed often are values by class, and stay.
    """
    results = [n for n in numbers if STRONG.search(n.plain) and _OPENS_LIST.search(texts[n.index])]
    for n in results:
        last = n.index + 1
        while last < len(texts) - 1 and _BETWEEN.fullmatch(texts[last]):
            last += 1
        length, after_list = last - n.index, texts[last].lstrip(")'\" ")
        is_list = length > _PAIR_LENGTH or (length == _PAIR_LENGTH and len(results) > 1)
        listed = rare and is_list and after_list.startswith("]")
        if listed or (last == len(texts) - 1 and after_list in ("", ",")):
            n.drop()
