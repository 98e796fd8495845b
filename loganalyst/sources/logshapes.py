"""What the numbers of a log line mean, told from the line's shape: its text with every number replaced by a slot.

A log of a million lines has few shapes, so each is read once here and the numbers are gathered column-wise elsewhere.
"""

import re
from dataclasses import dataclass
from typing import Literal

SLOT = "\x00"  # a number
CLOCK = "\x01"  # a date or a time of day
JOIN = "\x02"  # a blank after which nan is a word, not a value ("number of nan iterations")
BAR = "\x03"  # a progress bar before its counter
KERAS = "\x04"  # a progress bar after its counter, with averages over the epoch

Role = Literal["metric", "step", "batch", "total", "epoch"]

_UNIT = re.compile(
    r"\s?%|(?:[munµ]?s|secs?|seconds?|mins?|h|hrs?|[kKMGTB]i?B?|x|°C|W|"
    r"(?:tok|tokens|samples|examples|images|imgs?|it|iters?|steps?|batch|batches)/s(?:ec)?|m?s/(?:it|iter|step|batch|epoch))"
    r"(?![\w/])"
)
_ENDS = re.compile(rf"$|[\s,;|)\]}}/:'\"<({CLOCK}{BAR}{KERAS}]|\.(?:\s|$)|-\s")
_SEPARATOR = re.compile(
    r"\s*(?:[:=]|=>|->|\b(?:is|was|of)(?=\s))\s*(?:tensor\(|array\(|(?:np|numpy|jnp)\.\w{1,20}\()?[\[('\"]*\s?$"
)
_PARENTHESIS = re.compile(r"\s?\([^()]{1,12}\)$")
_CUT = re.compile(rf"[|,;(){{}}\[\]<>\"`:={CLOCK}{BAR}{KERAS}•·]|(?<!\w)'|'(?!\w)|\s-+\s|--+|\.\s")
_LEVEL = re.compile(r"^(?:INFO|DEBUG|WARNING|WARN|ERROR|NOTICE|I|W)\s+")

_EPOCH = re.compile(r"^(?:.* )?(?:epoch|ep)(?: (?:num|no|number|id|idx|index))?\.?$")
_STEP = re.compile(
    r"^(?:.*? |[a-z]*/)??(global step|num updates|iteration|iter|step|timestep|total timesteps|itr|it|batch|"
    r"minibatch|batch idx|update|episode|generation)s?(?: (?:num|no|number|id|idx|index))?\.?$"
)
# of several positions on a line the first of these counts; a counter within an epoch comes after them
_ORDER = ("global step", "num updates", "iteration", "iter", "itr", "step", "timestep", "total timesteps", "it", "s")
_RANK: tuple[str, ...] = (*_ORDER, "episode", "generation", "[")
_NOT_POSITION = re.compile(
    r"\b(?:per|every|max|num (?!updates)|number of|total(?! timesteps)|warm ?up|save|log|best|time|skipped|start|ms|s|"
    r"accumulation|for|after)\b"
)

_WEAK = re.compile(r"\b(?:lr|learning rate|\w*norm|grad|gradient|error|score|ap|precision|return|time)\b")
# words of results, and of settings that only carry such a word (for lower case)
RESULT = (
    r"loss|accura|perplexity|reward|entropy|recall|grad ?norm|\bf1|\ba[pr]@|\b(?:acc\d?|ppl|nll|elbo|kld?|bpb|bpc|"
    r"bleu|auc|auroc|map\d*|m?iou|psnr|ssim|fid|r?mse|mae|wer|cer|dice|rouge\w?|mrr|ndcg|mcc)\b"
)
SETTING = (
    r"\b(?:weights?|coefs?|coeff|coefficient|alpha|beta|gamma|lambda|scaler?|smoothing|type|fn|func|functions?|name|file|"
    r"path|dir|max|min|num|number|n|size|steps?|every|interval|freq|warm ?up|decay|clip|threshold|target|init|models?|"
    r"head|layers?|dim|patience|delta|window|chunk|batch|bits|code|seed|version|id|line|location|params|parameters|"
    r"using|use|with|for|from)\b"
)
_STRONG, _SETTING = re.compile(RESULT), re.compile(SETTING)
_NEVER = re.compile(
    r"^(?:v num|version|seed|pid|rank|local rank|world size|port|job|jobid|id|gpus?|node|line|errno|exitcode|exit code|"
    r"code|signal|eta|wall|date|run|trial|fold|\w|[xyz] [a-z]|(?:ms|s)/(?:it|step))$|https?|\\|\.py\b|\.\w{2,4}$"
)
_SPLIT = re.compile(r"\b(?:train|training|(test|testing|val|valid|validation|eval|evaluation|dev))\b")
_EVALUATION = re.compile(
    rf"(?:^|[\[|({CLOCK}{SLOT}]|\s-)\s*(test|testing|val|valid|validation|validate|validating|eval|evaluation|evaluating|dev)\b"
    rf"(?:\s(?:set|results?|metrics))?(?:\s?[:\])|]|\s-|\s?\[|\s(?:epoch|step|iter))",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"\b(?:end|sav|finish|complet|done|best)", re.IGNORECASE)
_WORDS = re.compile(
    r"^(?:train|training|test|val|valid|validation|eval|evaluation|avg|average|mean|running|total|best|final|top\S*|"
    r"learning|rate|grad|gradient|norm|smoothed|epoch|batch|\S*(?:loss|acc|accuracy|ppl|perplexity|reward|score|error)\S*)$",
    re.IGNORECASE,
)
_PROSE = re.compile(r"\b(?:the|a|an|at|in|on|to|and|with|from|than|by|for|if|has|have|will|be)\b", re.IGNORECASE)


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
    role: Role | None = None

    def drop(self) -> None:
        self.key = self.plain = ""


def read(shape: str, count: int) -> Shape | None:
    """The meaning of a shape that `count` lines have, or None where it neither measures nor opens an epoch."""
    parts = shape.split(SLOT)
    numbers = _numbers(parts)
    keras = bool(re.search(rf"{SLOT}/{SLOT}\s?{KERAS}|^{SLOT}/{SLOT} - .*{SLOT}m?s\b", shape))
    evaluation = _EVALUATION.search(shape)
    _fractions(numbers, parts)
    _positions(numbers, exact_counter=BAR in shape)
    if evaluation and any(n.role == "batch" for n in numbers):
        _averages(numbers, parts)
    metrics = _metrics(numbers, count, evaluation.group(1) if evaluation else "")
    header = not metrics and any(n.role == "epoch" for n in numbers) and not _CLOSING.search(shape)
    if not metrics and not header:
        return None
    positions = (Slot(n.index, n.role) for n in numbers if n.role)
    bar = keras or BAR in shape or KERAS in shape
    return Shape((*positions, *metrics), bar, keras, bool(evaluation), header)


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
    if found and parts[0] == "[" and parts[1].startswith("] "):
        found[0].plain = "["
    return found


def _keyed(index: int, before: str, after: str) -> _Number:
    text = before[-120:]
    separator = _SEPARATOR.search(text)
    key = text[: separator.start()] if separator else text
    if after.startswith(("%" + BAR, BAR)) or (not separator and key and not key.endswith((" ", "["))):
        return _Number(index)
    key = key.rstrip(" [\"'")
    unit = _PARENTHESIS.search(key)
    pieces = _CUT.split(key[: unit.start()] if unit else key)
    name = _LEVEL.sub("", pieces[-1].replace(JOIN, " ").strip(" \t-*#~>!?.\\"))
    words = name.split()
    bounded = len(words) <= 2
    if len(words) > 4 or _PROSE.search(name):
        name, bounded = _tail(words), False
    plain = re.sub(r"[\s_\-]+", " ", name.lower())
    return _Number(index, name + (unit.group() if unit and name else ""), plain, bool(separator), bounded)


def _tail(words: list[str]) -> str:
    """The end of a sentence that consists of metric words only."""
    start = len(words)
    while start and _WORDS.match(words[start - 1]):
        start -= 1
    return " ".join(words[start:])


def _fractions(numbers: list[_Number], parts: list[str]) -> None:
    """Marks the n of `i/n`; a result printed as `i/n (p%)` is p, without the percentage it is not known."""
    by_index = {n.index: n for n in numbers}
    for n in numbers:
        total = by_index.get(n.index + 1)
        if n.role or not total or not re.fullmatch(r"\s?/\s?|\sof\s", parts[n.index + 1]):
            continue
        total.drop()
        total.role = "total"
        if _SPLIT.fullmatch(n.plain):
            n.drop()
        if _STRONG.search(n.plain):
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
        position = not n.role and not _NOT_POSITION.search(n.plain)
        step = _STEP.match(n.plain) if position else None
        name = step[1] if step else n.plain
        if position and _EPOCH.match(n.plain):
            epochs.append(n)
        elif step or name == "[" or (name == "s" and n.separated and n.index == 0):
            steps.append((_RANK.index(name) if name in _RANK else len(_RANK), n))
        elif position and n.index in totals and not n.plain and n.index + 1 not in totals:
            steps.append((len(_RANK) + 1, n))
    steps.sort(key=lambda s: -s[0] if exact_counter else s[0])
    for _, n in steps[1:]:
        n.drop()
    for n in epochs[1:]:
        n.drop()
    for n in epochs[:1]:
        n.role = "epoch"
    for rank, n in steps[:1]:
        n.role = "step" if rank < len(_RANK) and n.index not in totals else "batch"
    for index, total in totals.items():
        if not steps or steps[0][1].index != index:
            total.role = None


def _averages(numbers: list[_Number], parts: list[str]) -> None:
    """In a pass over held-out data `x (average so far)` means the average."""
    for n in numbers:
        if not n.role and n.key and re.fullmatch(r"\s?\(\s?", parts[n.index + 1]):
            n.index += 1


def _metrics(numbers: list[_Number], count: int, evaluation: str) -> list[Slot]:
    candidates = [n for n in numbers if not n.role and _nameable(n)]
    strong = {n.index for n in candidates if _STRONG.search(n.plain) and not _SETTING.search(n.plain)}
    # a counter without a name may count anything: files, prompts
    placed = any(n.role in ("step", "epoch") or (n.role == "batch" and (n.key or strong)) for n in numbers)
    slots: list[Slot] = []
    split = first = evaluation
    for n in candidates:
        readable = n.separated or n.bounded or _STRONG.search(n.plain) or _WEAK.search(n.plain)
        usual = (placed or strong) if count >= 3 else (placed and strong and n.separated)
        if not (n.index in strong or (usual and readable)):
            continue
        own = _SPLIT.search(n.plain)
        if not slots and own:
            first = own[1] or ""
        given = "" if own else evaluation or (first if n.index in strong else "")
        name = f"{_as_printed(given, slots)} {n.key}" if given else n.key
        if any(s.name == name for s in slots):
            if not split or own:
                continue
            name = f"{split} {n.key}"
        split = own.group() if own else split
        slots.append(Slot(n.index, "metric", name))
    return slots


def _as_printed(split: str, slots: list[Slot]) -> str:
    """The word for the data as the line's first metric spells it."""
    found = re.search(re.escape(split), slots[0].name, re.IGNORECASE) if slots else None
    return found.group() if found else split


def _nameable(n: _Number) -> bool:
    return (
        0 < len(n.key) <= 40
        and bool(re.search(r"[^\W\d_]", n.key))
        and n.key[0] not in "/~$"
        and n.key.count("/") < 4
        and not _NEVER.search(n.plain)
    )
