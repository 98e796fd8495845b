"""Which data the numbers of a line are about: `loss 2.3 [val] acc 0.5`, `[train] loss=2, [valid] loss=3`."""

import re
from collections.abc import Sequence
from typing import Protocol

from loganalyst.sources.text.lines.heads import behind_level
from loganalyst.sources.text.lines.numberwords import EVALUATION, SECTION, SLOT, SPLIT, STRONG, plain_name

_ARROW = re.compile(r"([^\W\d_][\w ]{0,60}?)\s?(?:->|=>|→)\s?[^\W\d_][\w ]{0,30}[:= ]{1,3}$")  # `Evaluation -> Loss: `
# `Accuracy on the validation set`: the measure and its data
_ON_DATA = re.compile(
    r"^(?:the )?(.{1,30}?)(?: of the (?:network|model))? (?:on|over|for) (?:the )?"
    r"(train|training|test|testing|val|validation|eval|evaluation|dev|held-?out)(?:ing)?"
    r"(?: (?:set|data|dataset|split|images|samples|examples))?(?: (?:is|was))?$",
    re.IGNORECASE,
)


class Placed(Protocol):
    """A number of a line: its slot, its name in plain words, and the words for its data."""

    index: int
    plain: str
    section: str
    evaluation: str


def assign(numbers: Sequence[Placed], texts: Sequence[str], shape: str) -> str:
    """Give each number the word for its data; returns the line's word if it belongs to an evaluation."""
    return "" if _sections(numbers, texts) else _evaluation(numbers, texts, shape)


def of_measure(name: str) -> str:
    """The name with its data first, where they stand last.

    >>> of_measure("Accuracy on the validation set"), of_measure("loss")
    ('validation Accuracy', 'loss')
    """
    found = _ON_DATA.match(name)
    return f"{found[2]} {found[1]}" if found else name


def _sections(numbers: Sequence[Placed], texts: Sequence[str]) -> bool:
    """Whether the line has numbers of training and of held-out data (`[train] loss=2, [valid] loss=3`). Then each
    number belongs to the data named before it.
    """
    opened = [(k, hit[-1]) for k, part in enumerate(texts) if (hit := SECTION.findall(part))]
    if len({word.lower() for _, word in opened}) < 2:
        return False
    for n in numbers:
        n.section = next((word for k, word in reversed(opened) if k <= n.index), "")
    return True


def _evaluation(numbers: Sequence[Placed], texts: Sequence[str], shape: str) -> str:
    """The line's word for held-out data, given to the numbers behind it."""
    found = EVALUATION.match(behind_level(shape)) or EVALUATION.search(shape)
    if found:
        word, place = found[1] or found[2] or found[3], shape.count(SLOT) - found.string.count(SLOT, found.end())
    else:
        words = SPLIT.findall(_head(numbers, texts))
        word, place = (words[0] if words and all(words) else ""), 0  # none of them is of the training
    for n in numbers:
        n.evaluation = word if n.index >= place else ""
    return word


def _head(numbers: Sequence[Placed], texts: Sequence[str]) -> str:
    """The few words before the arrow in front of the first result."""
    first = next((n for n in numbers if STRONG.search(n.plain)), None)
    head = _ARROW.search(texts[first.index][-120:]) if first else None
    return plain_name(head[1]) if head else ""
