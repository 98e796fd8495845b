"""The numbers of a shape with their names and roles, before it is known which of them are metrics."""

import re

import msgspec

from loganalyst.sources.text.lines.numberwords import (
    SLOT,
    STRONG,
)
from loganalyst.sources.text.metrics import linedata, linelabels
from loganalyst.sources.text.metrics.carriednames import carry_names
from loganalyst.sources.text.metrics.countshares import mark_fractions
from loganalyst.sources.text.metrics.linepositions import mark_positions
from loganalyst.sources.text.metrics.numberlists import drop_histories
from loganalyst.sources.text.metrics.numberslots import name_percentages, numbers_of
from loganalyst.sources.text.metrics.shapenumber import Number

MIN_LINES = 3  # from so many lines on a shape is printed regularly
_OPENS_DICT = re.compile(r"\{\s?['\"]\w")  # `{'loss': 0.5`


class Parts(msgspec.Struct, frozen=True):
    """A parsed shape: its numbers with names and roles, and its word for the data if it belongs to an evaluation."""

    shape: str
    numbers: tuple[Number, ...]
    evaluation: str


def has_lists(shape: str) -> bool:
    """Whether the parts of a shape may depend on how often it is printed."""
    return "[" in shape


def parts(shape: str, *, rare: bool) -> Parts:
    """The parsed shape; `rare`: fewer than MIN_LINES lines have it."""
    texts = shape.split(SLOT)
    numbers = numbers_of(texts)
    name_percentages(numbers, texts)
    linelabels.complete(numbers, texts)
    evaluation = linedata.assign(numbers, texts, shape)
    carry_names(numbers, texts)
    drop_histories(numbers, texts, rare=rare)
    mark_fractions(numbers, texts)
    mark_positions(numbers, shape)
    _heads(numbers, texts)
    _returns(numbers, shape)
    if evaluation and any(n.role == "batch" for n in numbers):
        _averages(numbers, texts)
    return Parts(shape, tuple(numbers), evaluation)


def _heads(numbers: list[Number], texts: list[str]) -> None:
    """Forget the numbers before a dict that are of what wrote it: host and process in `gpu-12 0: {'loss': 0.5`."""
    opens = next((k for k, text in enumerate(texts) if _OPENS_DICT.search(text)), 0)
    for n in numbers:
        if n.index < opens and not (n.role or n.separated or STRONG.search(n.plain)):
            n.drop()


def _returns(numbers: list[Number], shape: str) -> None:
    """Name the return of an episode that is printed as `R` (`episode:3 R:21.5`)."""
    for n in numbers:
        if n.plain == "r" and "episode" in shape.lower():
            n.key, n.plain = f"{n.key} (reward)", "r reward"


def _averages(numbers: list[Number], texts: list[str]) -> None:
    """In a pass over held-out data `x (average so far)` means the average."""
    for n in numbers:
        if not n.role and n.key and re.fullmatch(r"\s?\(\s?", texts[n.index + 1]):
            n.index += 1
