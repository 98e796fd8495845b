"""The numbers of a shape that can be values or positions, with their names and units."""

import re

from loganalyst.sources.text.lines.numberwords import (
    BAR,
    CLOCK,
    KERAS,
    SLOT,
    SPLIT,
    STEP,
    STRONG,
    plain_name,
)
from loganalyst.sources.text.metrics.numbernames import named_number
from loganalyst.sources.text.metrics.shapenumber import Number

# Behind a number: `%`, `%%`, `ms`, ` Hz`, `s/it`, `MiB`, `x`, ` tokens/s`, `it/s`
_UNIT = re.compile(
    r"\s?%%?|(?:[munµ]?s|secs?|seconds?|mins?|h|hrs?|[kKMGTB]i?B?|dB|x|°C|W|"
    r"m?s/(?:it|iter|step|batch|epoch)|m/s)(?![\w/])"
    r"|\s?[kMG]?Hz(?![\w/])(?!\s?[:=])"
    r"|\s?(?:tok|tokens|samples|examples|images|imgs?|words|frames|updates?|it|iters?|steps?|batch|batches)?/s(?:ec)?(?:/(?:gpu|device|chip))?"
    r"(?![\w/])(?!\s?[:=])"  # ` tokens/s: ` is the name of the next number
)
# What ends a number: the end, a delimiter, a full stop, ` - `, the `=` of a sum; otherwise it is part of a word (`3d`)
_END_OF_NUMBER = re.compile(rf"$|[\s,;|)\]}}/:'\"<({CLOCK}{BAR}{KERAS}]|\.(?:\s|$)|-\s|={{3,}}|={SLOT}")
_SECONDS = {"s", "ms", "us", "µs", "ns", "sec", "secs", "second", "seconds"}
# ` - 12.1s`, `(12.1sec)`, `| 12s` at the end of a line
_ENDS_IN_SECONDS = re.compile(rf".{{0,2}}[-|,(\[] ?{SLOT}(?:s|secs?|seconds?)[)\]]?")
_RATE = re.compile(
    r"\s?(?:tok|tokens|samples|examples|images|imgs?|words|frames|updates?)/s(?:ec)?(?:/(?:gpu|device|chip))?"
)
_FEW_WORDS = re.compile(r"[a-z][\w/.]*(?: [a-z]\w*)?")  # `train loss`, `val/loss`


def numbers_of(texts: list[str]) -> list[Number]:
    """The slots that can be values or positions, with the key printed before each."""
    found, before = [], texts[0]
    for index, after in enumerate(texts[1:]):
        unit = _UNIT.match(after)
        after_unit = after[unit.end() :] if unit else after
        last = index == len(texts) - 2
        if _END_OF_NUMBER.match(after_unit) and (after_unit or last or unit) and (after_unit != "," or last):
            number = _measured(named_number(index, before, after_unit), unit.group() if unit else "")
            if last and unit and not number.key and _ENDS_IN_SECONDS.fullmatch(f"{before[-3:]}{SLOT}{after}"):
                number.key = number.plain = "time"
            found.append(number)
        before = after_unit
    for n in found:
        if _is_unnamed_step(n.index, texts[n.index], texts[n.index + 1]):
            n.plain = "["
    return found


def _is_unnamed_step(index: int, before: str, after: str) -> bool:
    """Whether a number opens its line: `12 | loss: 0.5`, `[12] loss: 0.5`."""
    first = index == 0 and not before and (after.startswith((" [", ": ", " | ")) or _names_result(after))
    logged = before.endswith("] [") or (index == 0 and before == "[")  # behind a place, too
    return bool(first or (logged and after.startswith("] ")))


def _measured(number: Number, unit: str) -> Number:
    """The number with a name that its unit completes: `iter 0.32s` is a time, `797.5 img/s` has no other name."""
    if unit in _SECONDS and STEP.match(number.plain) and not number.plain.endswith("time"):
        number.key, number.plain = f"{number.key} time", f"{number.plain} time"
    if not number.key and not number.separated and _RATE.fullmatch(unit):
        number.key, number.plain, number.bounded = unit.strip(), unit.strip(), True
    return number


def name_percentages(numbers: list[Number], texts: list[str]) -> None:
    """Name per cent of data alone an accuracy (`ce=0.5 train=50.3% test=49.8%`). In a line without another result they
    may be a progress: `Validation: 30%`.
    """
    found = [n for n in numbers if SPLIT.fullmatch(n.plain) and texts[n.index + 1].lstrip().startswith("%")]
    if len(found) > 1 or (found and any(STRONG.search(n.plain) for n in numbers)):
        for n in found:
            n.key, n.plain = f"{n.key} accuracy", f"{n.plain} accuracy"


def _names_result(text: str) -> bool:
    """Whether the text between the first two numbers of a line is a result's name, as in `3 train loss 0.5`."""
    name = plain_name(text.strip(" :="))
    return bool(SPLIT.fullmatch(name) or (STRONG.search(name) and _FEW_WORDS.fullmatch(name)))
