"""Names that stand before a position and belong to the number behind it: `Loss after epoch 3: 0.5`."""

import re
from itertools import pairwise

from loganalyst.sources.text.lines.numberwords import (
    EPOCH,
    NOT_POSITION,
    SPLIT,
    STEP,
    STRONG,
    WEAK,
    plain_name,
)
from loganalyst.sources.text.metrics.countedwords import COUNTED, COUNTED_MANY
from loganalyst.sources.text.metrics.shapenumber import Number

# Between a position and its value: `: `, ` = `, ` is `, ` epochs: `
_TO_VALUE = re.compile(rf"(?:\s{COUNTED}(?:e?s)?)?\s?(?:[:=,]|=>|->|(?:is|was)\s?:?)\s?")
_TO_MEAN = re.compile(rf"{COUNTED_MANY}\s?(?:[:=]|=>|->|(?:is|was)\s?:?)\s?", re.IGNORECASE)
_SPEED = re.compile(r"\s\w{1,20}/s(?:ec)?\b")  # ` words/s`


def carry_names(numbers: list[Number], texts: list[str]) -> None:
    """Give the number behind a position the name before it (`Loss after epoch 3: 0.5`).

    The best epoch so far is no position, nor is a plain count (`Validation loss 500: 0.5`).
    """
    for n, after in pairwise(numbers):
        says = texts[after.index]
        if n.carried and not n.key and after.index == n.index + 1 and (mean := _TO_MEAN.fullmatch(says)):
            data = SPLIT.search(says.lower())  # `Accuracy on the 10000 test images: `
            _mean(after, f"{data.group()} {n.carried}" if data else n.carried, mean["unit"])
            continue
        counted = n.key and after.separated  # `Reward after 100 episodes: -20`
        if n.carried and not counted and after.index == n.index + 1 and _is_position(after):
            after.carried = (
                n.carried
            )  # `Loss after 100 iterations in epoch 3: 0.5`, `Loss at epoch 3 and step 7 is 0.5`
            continue
        counts = not n.carried and not n.separated and bool(STRONG.search(n.plain)) and says.strip() == ":"
        counts = counts and not _SPEED.match(texts[after.index + 1])  # `Cost 9.1 : 12.5 words/s`
        name = n.key if counts else n.carried
        if name and after.index == n.index + 1 and _TO_VALUE.fullmatch(says):
            after.key, after.plain, after.separated = name, plain_name(name), True
            if counts or NOT_POSITION.search(after.plain):
                n.drop()


def _is_position(number: Number) -> bool:
    """Whether it is an epoch or a step that carries no name of its own."""
    return not number.carried and bool(EPOCH.match(number.plain) or STEP.match(number.plain))


def _mean(number: Number, name: str, unit: str) -> None:
    """Name a mean over `unit`; over episodes it is a return, whatever its name: `Evaluation over 10 episodes: 52`."""
    plain = plain_name(name)
    known = bool(STRONG.search(plain) or WEAK.search(plain))
    number.key, number.separated = name if known else f"{name} ({unit})", True
    number.plain = f"{plain} reward" if unit.lower() in ("episodes", "games") and not known else plain
