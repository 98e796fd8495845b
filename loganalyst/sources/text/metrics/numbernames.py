"""The name of a number, from the texts before and behind it: `Loss after epoch 3: 0.5`."""

import re

from loganalyst.sources.text.lines.numberwords import (
    BAR,
    CLOCK,
    EPOCH,
    JOIN,
    KERAS,
    PROSE,
    STEP,
    STRONG,
    WORDS,
    plain_name,
)
from loganalyst.sources.text.metrics import linedata
from loganalyst.sources.text.metrics.countedwords import COUNTED, COUNTED_MANY, WRAPPED
from loganalyst.sources.text.metrics.shapenumber import Number

# `: `, ` = `, ` => `, ` is `, ` was: `, `: tensor([`
_SEPARATOR = re.compile(rf"\s*(?:(?:\b(?:is|was)\s?)?[:=]{{1,2}}|=>|->|\b(?:is|was|of)(?=\s))\s*{WRAPPED}[\[('\"]*\s?$")
_PARENTHESIS = re.compile(r"\s?\([^()]{1,12}\)$")  # `loss (train)`
# ` (s)`, ` (ms)`: a number behind such a name is a duration
_DURATION = re.compile(r"\s?\((?:t|m?s|secs?|seconds?|min|h)\)")
_BRACKETED = re.compile(r"\[\s?([A-Za-z][\w /.\-]{0,38})\s?\]$")  # `[loss]`
# What separates a name from the text before it: `,`, ` - `, `. `, but not the dot in `Val. Loss`
_CUT = re.compile(
    rf"[|,;(){{}}\[\]<>\"`:={CLOCK}{BAR}{KERAS}•·]|(?<!\w)'|'(?!\w)|\s-+\s|--+"
    r"|(?<!\b[Vv]al)(?<!\b[Vv]alid)(?<!\b[Aa]vg)\.\s"  # but in `Val. Loss`
)
# A logger's origin before and behind a line number: `package.module:function:120 - text`, `package.module:120 >> text`,
# `(trainer:732) INFO: text`
_ORIGINS = (
    (re.compile(r"(?:[\w.]+\.\w+(?::\w+)?|\w+:[\w<>]+):$"), re.compile(" (?:-|>>) ")),
    (re.compile(r"\(\w+:$"), re.compile(r"\) (?:DEBUG|INFO|WARNING|ERROR)\b")),
)
# Before a name: arrows, pictures, the end of `第 3 轮`
_SIGNS = re.compile(r"^(?:[^\w(%\[]|(?:[轮步代次]|回合)\s(?=\S))+")
# `Loss after epoch 3: 0.5`: the name of the number behind the position
_CARRIED = re.compile(
    r"^(?:the )?(?P<name>.{1,40}?) (?:after|at|in|for|on|of|over) (?:the )?"
    r"(?P<position>(?:epoch|step|iteration|iter|batch|episode|round|update)(?: (?:num|no|number))?)$",
    re.IGNORECASE,
)
# ` and iteration 7`, behind `Loss at epoch 3`
_AND_POSITION = re.compile(
    r"^and (?:the )?(?=(?:epoch|step|iteration|iter|batch|episode|round|update)(?: (?:num|no|number))?$)",
    re.IGNORECASE,
)
# `Epoch #3`, `Epoch(3)`: the name and its mark
_COUNT = re.compile(rf"(?<![\w/.\-]){COUNTED}\s?[#(]\s?$", re.IGNORECASE)
# A count of what a number is taken over: `Mean loss over last` before, ` batches: ` behind the number
_WINDOW = re.compile(
    r"^(?:(?P<name>.{1,40}?) )??(?:(?:over|in|on|for|across|after|within|than|every)(?: the)?"
    r"(?: (?:last|past|previous|first))?|last|past|previous|first)$",
    re.IGNORECASE,
)
_MANY_OF = re.compile(COUNTED_MANY, re.IGNORECASE)
_MANY = re.compile(rf"\s{COUNTED}")  # ` iterations`, behind the number in `after 100 iterations`
_NTH = re.compile(r"^第\s?(轮|步|代|次|回合|个? ?epoch)")  # `第 3 轮`
# `INFO `, `W `, `P1291 INFO `, `main host1 DEBUG `
_LEVEL = re.compile(r"^(?:(?:\S{1,40}\s+){0,2}?(?:INFO|DEBUG|WARNING|WARN|ERROR|NOTICE)|I|W)\s+")


def named_number(index: int, before: str, after: str) -> Number:
    """The number at slot `index` with its name, from the texts before and after it."""
    text = _without_mark(before[-120:])
    separator = _SEPARATOR.search(text)
    key = text[: separator.start()] if separator else text
    within_word = not separator and key and not key.endswith((" ", "["))
    if _is_line_of_code(text, after) or after.startswith(("%" + BAR, BAR)) or within_word:
        return Number(index)
    key, unit = _without_parenthesis(key.rstrip(" [\"'"))
    name = _AND_POSITION.sub("", _with_counted(_last_piece(key), after))
    window = _WINDOW.match(name)
    if window and not separator and _MANY_OF.match(after):
        return Number(index, carried=window["name"] or "")
    name, carried = _without_carried(name)
    name, bounded = _without_prose(linedata.of_measure(name))
    return Number(index, name + unit if name else "", _plain(name, unit, after), bool(separator), bounded, carried)


def _without_mark(text: str) -> str:
    """`Epoch ` of `Epoch #` and `Epoch(`."""
    if text[-2:].rstrip().endswith(("#", "(")):  # few of thousands of forms need the regex
        return _COUNT.sub(r"\1 ", text)
    return text


def _is_line_of_code(before: str, after: str) -> bool:
    """Whether the number is the line that a logger was called in."""
    return before.endswith(":") and any(origin.search(before) and behind.match(after) for origin, behind in _ORIGINS)


def _without_parenthesis(key: str) -> tuple[str, str]:
    """`loss` and ` (train)`."""
    found = _PARENTHESIS.search(key)
    return (key[: found.start()], found.group()) if found else (key, "")


def _last_piece(key: str) -> str:
    """The name at the end of the text, without marks, levels and signs before it."""
    piece = _in_brackets(key) if key.endswith("]") else _CUT.split(key)[-1]
    return _SIGNS.sub("", _LEVEL.sub("", piece.replace(JOIN, " ").strip(" \t-*#~>!?.\\")))


def _with_counted(name: str, after: str) -> str:
    """`Cost iterations` of `Cost after 100 iterations: 0.5`; any other name as it is."""
    counted = _MANY.match(after) if name.lower().endswith("after") else None
    return f"{name} {counted[1]}".removeprefix("after ").removeprefix("After ") if counted else name


def _without_carried(name: str) -> tuple[str, str]:
    """`epoch` and `Loss` of `Loss after epoch`."""
    found = _CARRIED.match(name)
    return (found["position"], found["name"]) if found else (name, "")


def _without_prose(name: str) -> tuple[str, bool]:
    """The name alone, and whether it stands alone between delimiters."""
    words = name.split()
    if len(words) > 4 or PROSE.search(name):
        return _metric_words(words), False
    return name, len(words) <= 2


def _plain(name: str, unit: str, after: str) -> str:
    """The name in plain words; that of a duration keeps its unit: `Batch (t): 0.31` is no position."""
    nth = _NTH.search(name + after)
    plain = ("step" if nth[1] == "步" else "epoch") if nth else plain_name(name)
    return plain + unit if _DURATION.fullmatch(unit) else plain


def _in_brackets(key: str) -> str:
    """The name of a result or a position in brackets before its number (`[loss] 0.5 [step] 7`)."""
    found = _BRACKETED.search(key)
    plain = plain_name(found[1]) if found else ""
    known = STRONG.search(plain) or STEP.match(plain) or EPOCH.match(plain)
    return found[1] if found and known else ""


def _metric_words(words: list[str]) -> str:
    """The words at the end of a sentence that metrics' names consist of."""
    start = len(words)
    while start and WORDS.match(words[start - 1]):
        start -= 1
    return " ".join(words[start:])
