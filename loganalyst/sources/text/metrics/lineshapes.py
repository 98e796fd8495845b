"""What the numbers of a log line mean, told from the line's shape: its text with every number replaced by a slot.

A log of a million lines has few shapes, so each is read once here and the numbers are gathered column-wise elsewhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from loganalyst.sources.text.lines.numberwords import (
    BAR,
    CLOCK,
    CLOSING,
    CONFIGURED,
    EPOCH,
    EVALUATION,
    JOIN,
    KERAS,
    NEVER,
    NOT_POSITION,
    PROSE,
    RANK,
    SECTION,
    SLOT,
    SPLIT,
    STEP,
    STRONG,
    WEAK,
    WORDS,
)

OFTEN = 3  # lines of a shape from which it is what a program prints again and again

Role = Literal["metric", "step", "batch", "total", "epoch"]

_UNIT = re.compile(
    r"\s?%|(?:[munµ]?s|secs?|seconds?|mins?|h|hrs?|[kKMGTB]i?B?|x|°C|W|"
    r"m?s/(?:it|iter|step|batch|epoch))(?![\w/])"
    r"|\s?(?:tok|tokens|samples|examples|images|imgs?|it|iters?|steps?|batch|batches)?/s(?:ec)?(?:/(?:gpu|device|chip))?"
    r"(?![\w/])"
)
_ENDS = re.compile(rf"$|[\s,;|)\]}}/:'\"<({CLOCK}{BAR}{KERAS}]|\.(?:\s|$)|-\s|={{3,}}")
_WRAPPED = r"(?:tensor\(|array\(|(?:np|numpy|jnp)\.\w{1,20}\()?"  # around a number
_SEPARATOR = re.compile(rf"\s*(?:(?:\b(?:is|was)\s?)?[:=]|=>|->|\b(?:is|was|of)(?=\s))\s*{_WRAPPED}[\[('\"]*\s?$")
_PARENTHESIS = re.compile(r"\s?\([^()]{1,12}\)$")
_DURATION = re.compile(r"\s?\((?:t|m?s|secs?|seconds?|min|h)\)")
_BRACKETED = re.compile(r"\[\s?([A-Za-z][\w /.\-]{0,38})\s?\]$")
_CUT = re.compile(
    rf"[|,;(){{}}\[\]<>\"`:={CLOCK}{BAR}{KERAS}•·]|(?<!\w)'|'(?!\w)|\s-+\s|--+"
    r"|(?<!\b[Vv]al)(?<!\b[Vv]alid)(?<!\b[Aa]vg)\.\s"  # but in `Val. Loss`
)
# of a logger, before and behind a line's number: `package.module:function:120 - what it says`, `(trainer:732) INFO: …`
_ORIGINS = (
    (re.compile(r"(?:[\w.]+\.\w+(?::\w+)?|\w+:[\w<>]+):$"), re.compile(" - ")),
    (re.compile(r"\(\w+:$"), re.compile(r"\) (?:DEBUG|INFO|WARNING|ERROR)\b")),
)
_SIGNS = re.compile(r"^(?:[^\w(%\[]|轮\s(?=\S))+")  # before a name: arrows, pictures, the end of `第 3 轮`
_CARRIED = re.compile(  # `Loss after epoch 3: 0.5`: the name of the number behind the position
    r"^(?:the )?(?P<name>.{1,40}?) (?:after|at|in|for|on|of|over) (?:the )?"
    r"(?P<position>(?:epoch|step|iteration|iter|batch|episode|round|update)(?: (?:num|no|number))?)$",
    re.IGNORECASE,
)
_COUNTED = r"(epoch|iteration|iter|step|episode|round|batch|update|generation)"
_SAYS = re.compile(rf"(?:\s{_COUNTED}(?:e?s)?)?\s?(?:[:=,]|=>|->|(?:is|was)\s?:?)\s?")
_COUNT = re.compile(rf"(?<![\w/.\-]){_COUNTED}\s?[#(]\s?$", re.IGNORECASE)
_MANY = re.compile(rf"\s{_COUNTED}")
_DL4J = "Score at iteration"  # and the loss
_OF_EPOCH = re.compile(r"\s?\[\s*$")  # `Train: 3 [ 100/1000`, as timm prints
_EPOCH_AND_BATCH = re.compile(r"\b(?:TRAIN|CV) Batch $")
_OPENS_LIST = re.compile(rf"\[\s?{_WRAPPED}['\"]?$")
_BETWEEN = re.compile(rf"['\")\s]*(?:,\s*|\s){_WRAPPED}['\"]?")
_OF_TOTAL = re.compile(r"(?<=\w) ?/ ?(?:total|num|max|n|all)\b[\w ]*$")  # `step/total_step: 5/60`
_PAIR = 2  # of one result: its loss and its metric, as Keras evaluates; learning rates are as many as there are groups
_PER_STEP = re.compile(r"\bloss (?:step|epoch)$|^(?:train |val )?step loss$")
_NTH = re.compile(r"^第\s?(?:轮|个? ?epoch)")  # `第 3 轮`
_OF_KERAS = re.compile(rf"{SLOT}/{SLOT}\s?{KERAS}|^{SLOT}/{SLOT} - .*{SLOT}m?s\b")
_LETTER = re.compile(r"[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")
_JOINED = re.compile(r"[\s_\-]+")
_LEVEL = re.compile(r"^(?:INFO|DEBUG|WARNING|WARN|ERROR|NOTICE|I|W)\s+")


@dataclass(frozen=True)
class Slot:
    """The meaning of the number at position `index` of a shape; `name` of a metric as printed."""

    index: int
    role: Role
    name: str = ""


@dataclass(frozen=True)
class Shape:
    """All numbers of a shape that mean something.

    `bar`: a progress bar is refreshed, the last line of a step counts; `keras`: averages over the epoch so far;
    `held_out`: a pass over other data than the training's, so its counter is not the training's;
    `header`: only opens an epoch.
    """

    slots: tuple[Slot, ...]
    bar: bool = False
    keras: bool = False
    held_out: bool = False
    header: bool = False


@dataclass
class _Number:
    index: int
    key: str = ""  # as printed
    plain: str = ""  # lower case, with blanks for _ and -
    separated: bool = False  # by : or =
    bounded: bool = False  # a key that stands alone between delimiters
    carried: str = ""  # what the number behind this position is called
    role: Role | None = None
    section: str = ""  # of a line with several: the word for the data

    def drop(self) -> None:
        self.key = self.plain = ""


@dataclass(frozen=True)
class Parts:
    """A shape taken apart: its numbers with their names and roles, and whether it is of an evaluation (what it calls
    the data).
    """

    shape: str
    numbers: "tuple[_Number, ...]"
    evaluation: str


def read(shape: str, count: int) -> Shape | None:
    """The meaning of a shape that `count` lines have, or None where it neither measures nor opens an epoch or step."""
    return meaning(parts(shape, seldom=count < OFTEN), count)


def has_lists(shape: str) -> bool:
    """Whether it may make a difference to its parts how often it is printed."""
    return "[" in shape


def parts(shape: str, *, seldom: bool) -> Parts:
    """The shape taken apart; `seldom`: fewer than OFTEN lines have it."""
    texts = shape.split(SLOT)
    numbers = _numbers(texts)
    evaluation = None if _sections(numbers, texts) else EVALUATION.search(shape)
    _carry(numbers, texts)
    _histories(numbers, texts, seldom=seldom)
    _fractions(numbers, texts)
    _positions(numbers, exact_counter=BAR in shape)
    if evaluation and any(n.role == "batch" for n in numbers):
        _averages(numbers, texts)
    return Parts(shape, tuple(numbers), (evaluation[1] or "val") if evaluation else "")


def meaning(of: Parts, count: int) -> Shape | None:
    """What a shape that was taken apart means where `count` lines have it."""
    numbers, shape = of.numbers, of.shape
    metrics = _metrics(numbers, count, of.evaluation)
    header = not metrics and any(n.role == "epoch" for n in numbers) and not CLOSING.search(shape)
    if not metrics and not header and not _alone(numbers, shape):
        return None
    positions = (Slot(n.index, n.role) for n in numbers if n.role)
    keras = bool(_OF_KERAS.search(shape))
    bar = keras or BAR in shape or KERAS in shape
    return Shape((*positions, *metrics), bar, keras, bool(of.evaluation), header)


def _numbers(parts: list[str]) -> list[_Number]:
    """The slots that can be values or positions, with the key printed before each."""
    found, before = [], parts[0]
    for index, after in enumerate(parts[1:]):
        unit = _UNIT.match(after)
        rest = after[unit.end() :] if unit else after
        last = index == len(parts) - 2
        if _ENDS.match(rest) and (rest or last or unit) and (rest != "," or last):
            found.append(_keyed(index, before, rest))
        before = rest
    for n in found:
        before, after = parts[n.index], parts[n.index + 1]
        first = n.index == 0 and not before and after.startswith((" [", ": ", " | "))
        logged = before.endswith("] [") or (n.index == 0 and before == "[")  # `[12] loss: 0.5`, behind a place, too
        if first or (logged and after.startswith("] ")):
            n.plain = "["
    return found


def _sections(numbers: list[_Number], parts: list[str]) -> bool:
    """Whether the line says both of training and of held-out data (`[train] loss=2, [valid] loss=3`). Then each number
    is of the data named before it.
    """
    opened = [(k, hit[-1]) for k, part in enumerate(parts) if (hit := SECTION.findall(part))]
    if len({word.lower() for _, word in opened}) < 2:
        return False
    for n in numbers:
        n.section = next((word for k, word in reversed(opened) if k <= n.index), "")
    return True


def _keyed(index: int, before: str, after: str) -> _Number:
    text = before[-120:]
    if text[-2:].rstrip().endswith(("#", "(")):  # of thousands of forms few need the expressions
        text = _COUNT.sub(r"\1 ", text)  # `Epoch #3`, `Epoch(3)`, `Iter-3`
    if text.endswith(":") and any(origin.search(text) and behind.match(after) for origin, behind in _ORIGINS):
        return _Number(index)
    separator = _SEPARATOR.search(text)
    key = text[: separator.start()] if separator else text
    if after.startswith(("%" + BAR, BAR)) or (not separator and key and not key.endswith((" ", "["))):
        return _Number(index)
    key = key.rstrip(" [\"'")
    unit = _PARENTHESIS.search(key)
    key = key[: unit.start()] if unit else key
    pieces = [_in_brackets(key)] if key.endswith("]") else _CUT.split(key)
    name = _LEVEL.sub("", pieces[-1].replace(JOIN, " ").strip(" \t-*#~>!?.\\"))
    name = _SIGNS.sub("", name)
    many = _MANY.match(after) if name.lower().endswith("after") else None  # `Cost after 100 iterations: 0.5`
    name = f"{name} {many[1]}".removeprefix("after ").removeprefix("After ") if many else name
    carries = _CARRIED.match(name)
    carried = "loss" if name == _DL4J else carries["name"] if carries else ""
    name = carries["position"] if carries else name
    words = name.split()
    bounded = len(words) <= 2
    if len(words) > 4 or PROSE.search(name):
        name, bounded = _tail(words), False
    plain = _plain(name)
    plain = "epoch" if (plain == "train" and _OF_EPOCH.match(after)) or _NTH.search(name + after) else plain
    if unit and _DURATION.fullmatch(unit.group()):
        plain += unit.group()  # `Batch (t): 0.31` tells no position
    name += unit.group() if unit and name else ""
    return _Number(index, name, plain, bool(separator), bounded, carried)


def _plain(name: str) -> str:
    return _JOINED.sub(" ", name.lower())


def _in_brackets(key: str) -> str:
    """The name of a result or a position that stands in brackets before its number (`[loss] 0.5 [step] 7`)."""
    found = _BRACKETED.search(key)
    plain = _plain(found[1]) if found else ""
    known = STRONG.search(plain) or STEP.match(plain) or EPOCH.match(plain)
    return found[1] if found and known else ""


def _tail(words: list[str]) -> str:
    """The end of a sentence that consists of metric words only."""
    start = len(words)
    while start and WORDS.match(words[start - 1]):
        start -= 1
    return " ".join(words[start:])


def _carry(numbers: list[_Number], parts: list[str]) -> None:
    """Gives the number behind a position the name that stands before it; that of the best so far is no position, nor is
    what only counts (`Validation loss 500: 0.5`).
    """
    for n, after in pairwise(numbers):
        says = parts[after.index]
        counts = not n.carried and not n.separated and bool(STRONG.search(n.plain)) and says.strip() == ":"
        name = n.key if counts else n.carried
        if name and after.index == n.index + 1 and _SAYS.fullmatch(says):
            after.key, after.plain, after.separated = name, _plain(name), True
            if counts or NOT_POSITION.search(after.plain):
                n.drop()


def _histories(numbers: list[_Number], parts: list[str], *, seldom: bool) -> None:
    """Passes over results that are lists: of all epochs again, or one that goes on in the next line. Lists that are
    printed again and again, as long as one another, are of classes.
    """
    results = [n for n in numbers if STRONG.search(n.plain) and _OPENS_LIST.search(parts[n.index])]
    for n in results:
        last = n.index + 1
        while last < len(parts) - 1 and _BETWEEN.fullmatch(parts[last]):
            last += 1
        length, rest = last - n.index, parts[last].lstrip(")'\" ")
        listed = rest.startswith("]") and seldom and (length > _PAIR or (length == _PAIR and len(results) > 1))
        if listed or (last == len(parts) - 1 and rest in ("", ",")):
            n.drop()


def _fractions(numbers: list[_Number], parts: list[str]) -> None:
    """Marks the n of `i/n`; a result printed as `i/n (p%)` is p, without the percentage it is not known. WeNet and
    CosyVoice print the epoch and the batch so.
    """
    by_index = {n.index: n for n in numbers}
    for n in numbers:
        total = by_index.get(n.index + 1)
        if n.role or not total or not re.fullmatch(r"\s?/\s?|\sof\s", parts[n.index + 1]):
            continue
        if _EPOCH_AND_BATCH.search(parts[n.index]):
            n.plain, total.plain = "epoch", "batch"
            continue
        total.drop()
        total.role = "total"
        n.plain = _OF_TOTAL.sub("", n.plain)
        if SPLIT.fullmatch(n.plain):
            n.drop()
        if STRONG.search(n.plain):
            percent = re.fullmatch(r"\s?\(", parts[n.index + 2]) and parts[n.index + 3 :][:1]
            total.role = None
            if percent and percent[0].startswith("%"):
                n.index += 2
            else:
                n.drop()


def _positions(numbers: list[_Number], exact_counter: bool) -> None:
    """Marks the epoch and the one step or counter that places the line.

    A step beside an exact counter may be rounded: then the counter counts.
    """
    totals = {n.index - 1: n for n in numbers if n.role == "total"}
    epochs, steps = [], []
    for n in numbers:
        position = not n.role and not NOT_POSITION.search(n.plain)
        step = STEP.match(n.plain) if position else None
        name = step[1] if step else n.plain
        if position and EPOCH.match(n.plain):
            epochs.append(n)
        elif step or name == "[" or (name == "s" and n.separated and n.index == 0):
            steps.append((RANK.index(name) if name in RANK else len(RANK), n))
        elif position and n.index in totals and not n.plain and n.index + 1 not in totals:
            steps.append((len(RANK) + 1, n))
    if any(n.plain == "episode" for _, n in steps):
        # those that an episode took, which may be one of a hundred that the line sums up
        steps = [(rank, n) for rank, n in steps if n.plain != "steps"]
    steps.sort(key=lambda s: -s[0] if exact_counter else s[0])
    for _, n in steps[1:]:
        n.drop()
    for n in epochs[1:]:
        n.drop()
    for n in epochs[:1]:
        n.role = "epoch"
    for rank, n in steps[:1]:
        n.role = "step" if rank < len(RANK) and n.index not in totals else "batch"
    for index, total in totals.items():
        if not steps or steps[0][1].index != index:
            total.role = None


def _alone(numbers: Sequence[_Number], shape: str) -> bool:
    """Whether nothing but a step stands there (`Iteration: 19`), for the lines below it."""
    steps = [n for n in numbers if n.role in ("step", "batch") and n.plain not in ("", "[")]
    return bool(steps) and _LETTERS.findall(shape) == _LETTERS.findall(steps[0].key)


def _averages(numbers: list[_Number], parts: list[str]) -> None:
    """In a pass over held-out data `x (average so far)` means the average."""
    for n in numbers:
        if not n.role and n.key and re.fullmatch(r"\s?\(\s?", parts[n.index + 1]):
            n.index += 1


def _metrics(numbers: Sequence[_Number], count: int, evaluation: str) -> list[Slot]:
    candidates = [n for n in numbers if not n.role and _nameable(n)]
    strong = {n.index for n in candidates if _result(n.plain)}
    # a counter without a name may count anything: files, prompts
    placed = any(n.role in ("step", "epoch") or (n.role == "batch" and (n.key or strong)) for n in numbers)
    slots: list[Slot] = []
    split = first = evaluation
    for n in candidates:
        readable = n.separated or n.bounded or STRONG.search(n.plain) or WEAK.search(n.plain)
        usual = (placed or strong) if count >= OFTEN else (placed and strong and n.separated)
        if not (n.index in strong or (usual and readable)):
            continue
        own = SPLIT.search(n.plain)
        if not slots and own:
            first = own[1] or ""
        given = "" if own else n.section or evaluation or (first if n.index in strong else "")
        name = f"{_as_printed(given, slots)} {n.key}" if given else n.key
        if any(s.name == name for s in slots):
            if not split or own:
                continue
            name = f"{split} {n.key}"
        split = own.group() if own else split
        slots.append(Slot(n.index, "metric", name))
    return slots


def _result(name: str) -> bool:
    """Whether it is the name of a result, not of a setting that carries such a word."""
    return bool(STRONG.search(name)) and (not CONFIGURED.search(name) or bool(_PER_STEP.search(name)))


def _as_printed(split: str, slots: list[Slot]) -> str:
    """The word for the data as the line's first metric spells it."""
    found = re.search(re.escape(split), slots[0].name, re.IGNORECASE) if slots else None
    return found.group() if found else split


def _nameable(n: _Number) -> bool:
    return (
        0 < len(n.key) <= 40
        and bool(_LETTER.search(n.key))
        and n.key[0] not in "/~$"
        and n.key.count("/") < 4
        and not NEVER.search(n.plain)
    )
