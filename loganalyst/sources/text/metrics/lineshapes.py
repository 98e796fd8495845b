"""The meaning of the numbers of a log line, derived from its shape: its text with every number replaced by a slot.

A log of a million lines has few shapes. Each is interpreted once here; its numbers are gathered column-wise elsewhere.
"""

import re
from collections.abc import Sequence

import msgspec

from loganalyst.sources.text.lines.numberwords import (
    BAR,
    CLOSING,
    CONFIGURED,
    KERAS,
    NEVER,
    SLOT,
    SPLIT,
    STRONG,
    WEAK,
)
from loganalyst.sources.text.metrics.shapenumber import Number, Role
from loganalyst.sources.text.metrics.shapeparts import MIN_LINES, Parts, parts

# `train loss step`, `step loss`, `bits/dim`: results, although `step` and `bits` are words of settings
_PER_STEP = re.compile(r"\bloss (?:step|epoch)$|^(?:train |val )?step loss$|\bbits/dim\b")
# `5/10 [==>...]`, and `5/10 - 1s 5ms/step` without a bar
_OF_KERAS = re.compile(rf"{SLOT}/{SLOT}\s?{KERAS}|^{SLOT}/{SLOT} - .*{SLOT}m?s\b")
_QUALITY = re.compile(r"\b(?:error|score|return)\b")  # `test score`, `Error`
# As printed: `Learning rate`, `current lr`; a dump of settings, which each rank may print, has `learning_rate`
_RATE = re.compile(r"(?i:(?:(?:current|new) )?learning rate|(?:current|new)[ _](?:lr|learning_rate))")
_OF_GAN = {"d", "g"}  # discriminator and generator: `D=0.7 G=1.2`
_OF_AGENT = ("episode", "episodes", "game")
_COUNTERS = ("step", "batch")
_CLASS = re.compile(r"(?:\w+\.){2,9}[A-Z]\w*")  # a class in a table of layers: `models.common.Concat`
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")  # `train` and `loss` in `train_loss 0.5`


class Slot(msgspec.Struct, frozen=True):
    """The meaning of the number at position `index` of a shape; `name` of a metric as printed. A count is divided by
    the number at position `over`; a percentage is taken exactly from the one at position `count` and that total.
    """

    index: int
    role: Role
    name: str = ""
    over: int | None = None
    count: int | None = None


class Shape(msgspec.Struct, frozen=True):
    """All numbers of a shape that have a meaning.

    `bar`: a progress bar is refreshed, so the last line of a step counts; `keras`: averages over the epoch so far;
    `held_out`: a pass over other data than the training's, so its counter is not the training's; `header`: the line
    only opens an epoch.
    """

    slots: tuple[Slot, ...]
    bar: bool = False
    keras: bool = False
    held_out: bool = False
    header: bool = False


def read(shape: str, count: int) -> Shape | None:
    """The meaning of a shape that `count` lines have; None where it neither measures nor opens an epoch or step."""
    return meaning(parts(shape, rare=count < MIN_LINES), count)


def meaning(parsed: Parts, count: int, *, explained: bool = False) -> Shape | None:
    """The meaning of a parsed shape of `count` lines. Where a trainer explained it, each number with a name counts."""
    numbers, shape = parsed.numbers, parsed.shape
    metrics = _metrics(numbers, count, explained=explained)
    header = not metrics and any(n.role == "epoch" for n in numbers) and not CLOSING.search(shape)
    if not metrics and not header and not _is_only_step(numbers, shape):
        return None
    positions = [Slot(n.index, n.role) for n in numbers if n.role]
    if metrics:  # an agent's counter is a witness of its kind, as the column of a CSV file is
        metrics += [Slot(n.index, "metric", n.key) for n in numbers if n.role in _COUNTERS and n.plain in _OF_AGENT]
    keras = bool(_OF_KERAS.search(shape))
    bar = keras or BAR in shape or KERAS in shape
    return Shape((*positions, *metrics), bar, keras, bool(parsed.evaluation), header)


def _is_only_step(numbers: Sequence[Number], shape: str) -> bool:
    """Whether the line has only a step (`Iteration: 19`), which then applies to the lines below."""
    steps = [n for n in numbers if n.role in ("step", "batch") and n.plain not in ("", "[")]
    return bool(steps) and _LETTERS.findall(shape) == _LETTERS.findall(steps[0].key)


def _metrics(numbers: Sequence[Number], count: int, *, explained: bool) -> list[Slot]:
    """The numbers that are metrics, with their names."""
    pair = {n.plain for n in numbers} >= _OF_GAN
    candidates = [n for n in numbers if not n.role and (_has_usable_name(n) or (pair and n.plain in _OF_GAN))]
    strong = {n.index for n in candidates if explained or _is_result(n.plain) or (pair and n.plain in _OF_GAN)}
    # a counter without a name may count anything: files, prompts
    placed = any(n.role in ("step", "epoch") or (n.role == "batch" and (n.key or strong)) for n in numbers)
    named = [n for n in numbers if n.key]
    alone = count >= MIN_LINES and len(named) == 1 and named[0].separated and _may_be_alone(named[0])
    slots: list[Slot] = []
    split = first = ""
    said = 0  # metrics that name their data; a second one that does says that names are whole
    for n in candidates:
        readable = n.separated or n.bounded or STRONG.search(n.plain) or WEAK.search(n.plain)
        usual = (placed or strong) if count >= MIN_LINES else (placed and strong and n.separated)
        if not (n.index in strong or (usual and readable) or alone):
            continue
        data_word = SPLIT.search(n.plain)
        said += bool(data_word)
        if not slots and data_word:
            first = data_word[1] or ""
        of_line = n.section or n.evaluation
        given = "" if data_word else of_line or (first if n.index in strong and said < 2 else "")
        split = split or n.evaluation
        name = f"{_as_printed(given, slots)} {n.key}" if given else n.key
        if any(s.name == name for s in slots):
            if not split or data_word:
                continue
            name = f"{split} {n.key}"
        split = data_word.group() if data_word else split
        slots.append(Slot(n.index, "metric", name, n.over, n.count))
    return slots


def _is_result(name: str) -> bool:
    """Whether the name is a result, not a setting that contains such a word."""
    return bool(STRONG.search(name)) and (not CONFIGURED.search(name) or bool(_PER_STEP.search(name)))


def _is_quality(name: str) -> bool:
    """Whether a weak name, alone on its line, measures a model: `Score: 0.5`, `Train: 0.5`; a setting does not."""
    return bool(_QUALITY.search(name) or SPLIT.fullmatch(name)) and not CONFIGURED.search(name)


def _may_be_alone(number: Number) -> bool:
    """Whether a number with a weak name, alone on its line, is a metric: a quality or the learning rate."""
    return _is_quality(number.plain) or bool(_RATE.fullmatch(number.key))


def _as_printed(split: str, slots: list[Slot]) -> str:
    """The word for the data as the line's first metric spells it."""
    found = re.search(re.escape(split), slots[0].name, re.IGNORECASE) if slots else None
    return found.group() if found else split


def _has_usable_name(n: Number) -> bool:
    """Whether the number has a usable name."""
    return (
        0 < len(n.key) <= 40
        and bool(_LETTER.search(n.key))
        and n.key[0] not in "/~$"
        and n.key.count("/") < 4
        and not NEVER.search(n.plain)
        and (_is_result(n.plain) or not _CLASS.fullmatch(n.key))
    )
