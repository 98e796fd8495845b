"""The numbers of a shape with their names and roles, before it is known which of them are metrics."""

import re
from itertools import pairwise
from typing import Literal

import msgspec

from loganalyst.sources.text.lines.numberwords import (
    BAR,
    CLOCK,
    EPOCH,
    JOIN,
    KERAS,
    NOT_POSITION,
    PROSE,
    RANK,
    SLOT,
    SPLIT,
    STEP,
    STRONG,
    WEAK,
    WORDS,
    plain_name,
)
from loganalyst.sources.text.metrics import linedata, linelabels

MIN_LINES = 3  # from so many lines on a shape is printed regularly
Role = Literal["metric", "step", "batch", "total", "epoch"]
# Behind a number: `%`, `%%`, `ms`, ` Hz`, `s/it`, `MiB`, `x`, ` tokens/s`, `it/s`
_UNIT = re.compile(
    r"\s?%%?|(?:[munµ]?s|secs?|seconds?|mins?|h|hrs?|[kKMGTB]i?B?|dB|x|°C|W|"
    r"m?s/(?:it|iter|step|batch|epoch)|m/s)(?![\w/])"
    r"|\s?[kMG]?Hz(?![\w/])(?!\s?[:=])"
    r"|\s?(?:tok|tokens|samples|examples|images|imgs?|it|iters?|steps?|batch|batches)?/s(?:ec)?(?:/(?:gpu|device|chip))?"
    r"(?![\w/])(?!\s?[:=])"  # ` tokens/s: ` is the name of the next number
)
# What ends a number: the end, a delimiter, a full stop, ` - `, the `=` of a sum; otherwise it is part of a word (`3d`)
_END_OF_NUMBER = re.compile(rf"$|[\s,;|)\]}}/:'\"<({CLOCK}{BAR}{KERAS}]|\.(?:\s|$)|-\s|={{3,}}|={SLOT}")
_WRAPPED = r"(?:tensor\(|array\(|(?:np|numpy|jnp)\.\w{1,20}\()?"  # around a number: `tensor(`, `np.float32(`
# `: `, ` = `, ` => `, ` is `, ` was: `, `: tensor([`
_SEPARATOR = re.compile(
    rf"\s*(?:(?:\b(?:is|was)\s?)?[:=]{{1,2}}|=>|->|\b(?:is|was|of)(?=\s))\s*{_WRAPPED}[\[('\"]*\s?$"
)
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
_SIGNS = re.compile(
    r"^(?:[^\w(%\[]|(?:[轮步代次]|回合)\s(?=\S))+"
)  # before a name: arrows, pictures, the end of `第 3 轮`
# `Loss after epoch 3: 0.5`: the name of the number behind the position
_CARRIED = re.compile(
    r"^(?:the )?(?P<name>.{1,40}?) (?:after|at|in|for|on|of|over) (?:the )?"
    r"(?P<position>(?:epoch|step|iteration|iter|batch|episode|round|update)(?: (?:num|no|number))?)$",
    re.IGNORECASE,
)
_COUNTED = r"(epoch|iteration|iter|step|episode|round|batch|update|generation)"
# Between a position and its value: `: `, ` = `, ` is `, ` epochs: `
_TO_VALUE = re.compile(rf"(?:\s{_COUNTED}(?:e?s)?)?\s?(?:[:=,]|=>|->|(?:is|was)\s?:?)\s?")
# `Epoch #3`, `Epoch(3)`: the name and its mark
_COUNT = re.compile(rf"(?<![\w/.\-]){_COUNTED}\s?[#(]\s?$", re.IGNORECASE)
# A count of what a number is taken over: `Mean loss over last` before, ` batches: ` behind the number
_WINDOW = re.compile(
    r"^(?:(?P<name>.{1,40}?) )??(?:(?:over|in|on|for|across|after|within|than|every)(?: the)?"
    r"(?: (?:last|past|previous|first))?|last|past|previous|first)$",
    re.IGNORECASE,
)
_COUNTED_MANY = (
    r"\s(?:[a-z]+\s){0,2}(?P<unit>(?:mini)?batches|episodes|(?:time)?steps|iterations|epochs|games|runs|updates|trials|rounds|"
    r"samples|examples|images|evaluations)\b"
)
_MANY_OF = re.compile(_COUNTED_MANY, re.IGNORECASE)
_TO_MEAN = re.compile(rf"{_COUNTED_MANY}\s?(?:[:=]|=>|->|(?:is|was)\s?:?)\s?", re.IGNORECASE)
_MANY = re.compile(rf"\s{_COUNTED}")  # ` iterations`, behind the number in `after 100 iterations`
_OPENS_LIST = re.compile(rf"\[\s?{_WRAPPED}['\"]?$")  # `loss: [0.5`, without the number
# `, `, `', '`, `), tensor(`: between the numbers of a list
_BETWEEN = re.compile(rf"['\")\s]*(?:,\s*|\s){_WRAPPED}['\"]?")
_OF_TOTAL = re.compile(r"(?<=\w) ?/ ?(?:total|num|max|n|all)\b[\w ]*$")  # `step/total_step: 5/60`
# A list of two numbers may be one result: its loss and its metric, as Keras evaluates; learning rates are as many as
# there are groups
_PAIR_LENGTH = 2
_HITS = re.compile(r"\bcorrect$")  # `Correct: 9129/10000`
_NTH = re.compile(r"^第\s?(轮|步|代|次|回合|个? ?epoch)")  # `第 3 轮`
_OPENS_DICT = re.compile(r"\{\s?['\"]\w")  # `{'loss': 0.5`
_SECONDS = {"s", "ms", "us", "µs", "ns", "sec", "secs", "second", "seconds"}
_SPEED = re.compile(r"\s\w{1,20}/s(?:ec)?\b")  # ` words/s`
_RATE = re.compile(r"\s?(?:tok|tokens|samples|examples|images|imgs?)/s(?:ec)?(?:/(?:gpu|device|chip))?")
_FEW_WORDS = re.compile(r"[a-z][\w/.]*(?: [a-z]\w*)?")  # `train loss`, `val/loss`
_LEVEL = re.compile(r"^(?:INFO|DEBUG|WARNING|WARN|ERROR|NOTICE|I|W)\s+")  # `INFO `, `W `


class Number(msgspec.Struct):
    """One number of a shape, while its meaning is being found."""

    index: int
    key: str = ""  # as printed
    plain: str = ""  # lower case, with blanks for _ and -
    separated: bool = False  # by : or =
    bounded: bool = False  # a key alone between delimiters
    carried: str = ""  # what the number behind this position is called
    role: Role | None = None
    section: str = ""  # of a line with several: the word for the data
    evaluation: str = ""  # the word for held-out data, behind which the number stands
    over: int | None = None  # the slot of the total that a count is a share of

    def drop(self) -> None:
        """Forget the name: the number has no meaning."""
        self.key = self.plain = ""


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
    numbers = _numbers(texts)
    _percentages(numbers, texts)
    linelabels.complete(numbers, texts)
    evaluation = linedata.assign(numbers, texts, shape)
    _carry(numbers, texts)
    _histories(numbers, texts, rare=rare)
    _fractions(numbers, texts)
    _positions(numbers, texts, exact_counter=BAR in shape)
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


def _numbers(parts: list[str]) -> list[Number]:
    """The slots that can be values or positions, with the key printed before each."""
    found, before = [], parts[0]
    for index, after in enumerate(parts[1:]):
        unit = _UNIT.match(after)
        after_unit = after[unit.end() :] if unit else after
        last = index == len(parts) - 2
        if _END_OF_NUMBER.match(after_unit) and (after_unit or last or unit) and (after_unit != "," or last):
            found.append(_measured(_keyed(index, before, after_unit), unit.group() if unit else ""))
        before = after_unit
    for n in found:
        before, after = parts[n.index], parts[n.index + 1]
        first = n.index == 0 and not before and (after.startswith((" [", ": ", " | ")) or _names_result(after))
        logged = before.endswith("] [") or (n.index == 0 and before == "[")  # `[12] loss: 0.5`, behind a place, too
        if first or (logged and after.startswith("] ")):
            n.plain = "["
    return found


def _measured(number: Number, unit: str) -> Number:
    """The number with a name that its unit completes: `iter 0.32s` is a time, `797.5 img/s` has no other name."""
    if unit in _SECONDS and STEP.match(number.plain) and not number.plain.endswith("time"):
        number.key, number.plain = f"{number.key} time", f"{number.plain} time"
    if not number.key and not number.separated and _RATE.fullmatch(unit):
        number.key, number.plain, number.bounded = unit.strip(), unit.strip(), True
    return number


def _percentages(numbers: list[Number], texts: list[str]) -> None:
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


def _keyed(index: int, before: str, after: str) -> Number:
    """The number at slot `index` with its name, from the texts before and after it."""
    text = before[-120:]
    if text[-2:].rstrip().endswith(("#", "(")):  # few of thousands of forms need the regex
        text = _COUNT.sub(r"\1 ", text)  # `Epoch #3`, `Epoch(3)`, `Iter-3`
    if text.endswith(":") and any(origin.search(text) and behind.match(after) for origin, behind in _ORIGINS):
        return Number(index)
    separator = _SEPARATOR.search(text)
    key = text[: separator.start()] if separator else text
    if after.startswith(("%" + BAR, BAR)) or (not separator and key and not key.endswith((" ", "["))):
        return Number(index)
    key = key.rstrip(" [\"'")
    unit = _PARENTHESIS.search(key)
    key = key[: unit.start()] if unit else key
    pieces = [_in_brackets(key)] if key.endswith("]") else _CUT.split(key)
    name = _LEVEL.sub("", pieces[-1].replace(JOIN, " ").strip(" \t-*#~>!?.\\"))
    name = _SIGNS.sub("", name)
    many = _MANY.match(after) if name.lower().endswith("after") else None  # `Cost after 100 iterations: 0.5`
    name = f"{name} {many[1]}".removeprefix("after ").removeprefix("After ") if many else name
    if (window := _WINDOW.match(name)) and not separator and _MANY_OF.match(after):
        return Number(index, carried=window["name"] or "")
    carries = _CARRIED.match(name)
    carried = carries["name"] if carries else ""
    name = carries["position"] if carries else name
    name = linedata.of_measure(name)
    words = name.split()
    bounded = len(words) <= 2
    if len(words) > 4 or PROSE.search(name):
        name, bounded = _metric_words(words), False
    plain = plain_name(name)
    if nth := _NTH.search(name + after):
        plain = "step" if nth[1] == "步" else "epoch"
    if unit and _DURATION.fullmatch(unit.group()):
        plain += unit.group()  # `Batch (t): 0.31` is no position
    name += unit.group() if unit and name else ""
    return Number(index, name, plain, bool(separator), bounded, carried)


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


def _carry(numbers: list[Number], parts: list[str]) -> None:
    """Give the number behind a position the name before it (`Loss after epoch 3: 0.5`).

    The best epoch so far is no position, nor is a plain count (`Validation loss 500: 0.5`).
    """
    for n, after in pairwise(numbers):
        says = parts[after.index]
        if n.carried and not n.key and after.index == n.index + 1 and (mean := _TO_MEAN.fullmatch(says)):
            data = SPLIT.search(says.lower())  # `Accuracy on the 10000 test images: `
            _mean(after, f"{data.group()} {n.carried}" if data else n.carried, mean["unit"])
            continue
        if n.carried and not n.key and after.index == n.index + 1 and EPOCH.match(after.plain) and not after.carried:
            after.carried = n.carried  # `Loss after 100 iterations in epoch 3: 0.5`
            continue
        counts = not n.carried and not n.separated and bool(STRONG.search(n.plain)) and says.strip() == ":"
        counts = counts and not _SPEED.match(parts[after.index + 1])  # `Cost 9.1 : 12.5 words/s`
        name = n.key if counts else n.carried
        if name and after.index == n.index + 1 and _TO_VALUE.fullmatch(says):
            after.key, after.plain, after.separated = name, plain_name(name), True
            if counts or NOT_POSITION.search(after.plain):
                n.drop()


def _mean(number: Number, name: str, unit: str) -> None:
    """Name a mean over `unit`; over episodes it is a return, whatever its name: `Evaluation over 10 episodes: 52`."""
    plain = plain_name(name)
    known = bool(STRONG.search(plain) or WEAK.search(plain))
    number.key, number.separated = name if known else f"{name} ({unit})", True
    number.plain = f"{plain} reward" if unit.lower() in ("episodes", "games") and not known else plain


def _histories(numbers: list[Number], parts: list[str], *, rare: bool) -> None:
    """Drop results that are lists: of all epochs again, or a list that goes on in the next line. Lists of equal length
    that are printed often are values by class, and stay.
    """
    results = [n for n in numbers if STRONG.search(n.plain) and _OPENS_LIST.search(parts[n.index])]
    for n in results:
        last = n.index + 1
        while last < len(parts) - 1 and _BETWEEN.fullmatch(parts[last]):
            last += 1
        length, after_list = last - n.index, parts[last].lstrip(")'\" ")
        listed = (
            after_list.startswith("]")
            and rare
            and (length > _PAIR_LENGTH or (length == _PAIR_LENGTH and len(results) > 1))
        )
        if listed or (last == len(parts) - 1 and after_list in ("", ",")):
            n.drop()


def _fractions(numbers: list[Number], parts: list[str]) -> None:
    """Mark the n of `i/n`. A result printed as `i/n (p%)` is p; without the percentage it is the share."""
    by_index = {n.index: n for n in numbers}
    for n in numbers:
        total = by_index.get(n.index + 1)
        if n.role or not total or not re.fullmatch(r"\s?/\s?|\sof\s", parts[n.index + 1]):  # `3/10`, `3 of 10`
            continue
        total.drop()
        total.role = "total"
        n.plain = _OF_TOTAL.sub("", n.plain)
        if SPLIT.fullmatch(n.plain):
            n.drop()
        if STRONG.search(n.plain) or _HITS.search(n.plain):
            percent = re.fullmatch(r"\s?[(=\[]?\s?", parts[n.index + 2]) and parts[n.index + 3 :][:1]
            total.role = None
            if percent and (percent[0].startswith("%") or not percent[0].strip()):
                n.index += 2
            else:
                n.over = total.index


def _positions(numbers: list[Number], parts: list[str], *, exact_counter: bool) -> None:
    """Mark the epoch, and the one step or counter that is the position of the line.

    Next to an exact counter a step may be rounded, as `global_step=1.23e+4` of Lightning is: then the counter counts.
    A plain `step` is an integer of the program, and counts.
    """
    totals = {n.index - 1: n for n in numbers if n.role == "total"}
    epochs, steps = [], []
    for n in numbers:
        position = not n.role and not NOT_POSITION.search(n.plain)
        result = n.separated and STRONG.search(n.plain)  # `loss_G_generation: 0.5`
        step = STEP.match(n.plain) if position and not result else None
        name = step[1] if step else n.plain
        # `Epochs     3. Current error: 0.5`; `epochs=30 lr=0.1` is a plan
        counted = n.plain == "epochs" and n.index == 0 and len(numbers) > 1 and not n.separated
        if position and (EPOCH.match(n.plain) or counted):
            epochs.append(n)
        elif step or name == "[" or (name == "s" and n.separated and n.index == 0):
            steps.append((RANK.index(name) if name in RANK else len(RANK), n))
        elif position and n.index in totals and not n.plain and n.index + 1 not in totals:
            steps.append((len(RANK) + 1, n))
    if len(pair := _epoch_and_batch(numbers, parts)) == 2 and not epochs:
        epochs, steps = pair[:1], [(len(RANK), pair[1])]
    if any(n.plain == "episode" for _, n in steps):
        # the steps that an episode took, perhaps one of a hundred that the line summarises
        steps = [(rank, n) for rank, n in steps if n.plain != "steps"]
    steps.sort(key=lambda s: (s[1].plain != "step", -s[0]) if exact_counter else (False, s[0]))
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


def _epoch_and_batch(numbers: list[Number], parts: list[str]) -> list[Number]:
    """The epoch and the batch of `[3/30][450/500] loss 0.5`, which no word names."""
    between = ["".join(text.split()) for text in parts]
    for n in numbers:
        if between[n.index].endswith("[") and between[n.index + 1 : n.index + 4] == ["/", "][", "/"]:
            return [n, *(other for other in numbers if other.index == n.index + 2)]
    return []


def _returns(numbers: list[Number], shape: str) -> None:
    """Name the return of an episode that is printed as `R` (`episode:3 R:21.5`)."""
    for n in numbers:
        if n.plain == "r" and "episode" in shape.lower():
            n.key, n.plain = f"{n.key} (reward)", "r reward"


def _averages(numbers: list[Number], parts: list[str]) -> None:
    """In a pass over held-out data `x (average so far)` means the average."""
    for n in numbers:
        if not n.role and n.key and re.fullmatch(r"\s?\(\s?", parts[n.index + 1]):
            n.index += 1
