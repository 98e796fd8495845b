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
_ENDS = re.compile(rf"$|[\s,;|)\]}}/:'\"<{CLOCK}{BAR}{KERAS}]|\.(?:\s|$)|-\s")
_SEPARATOR = re.compile(
    r"\s*(?:[:=]|=>|->|\b(?:is|was|of)(?=\s))\s*(?:tensor\(|array\(|(?:np|numpy|jnp)\.\w{1,20}\()?[\[('\"]*$"
)
_PARENTHESIS = re.compile(r"\s?\([^()]{1,12}\)$")
_CUT = re.compile(rf"[|,;(){{}}\[\]<>\"'`:={CLOCK}{BAR}{KERAS}•·]|\s-+\s|--+|\.\s")
_LEVEL = re.compile(r"^(?:INFO|DEBUG|WARNING|WARN|ERROR|NOTICE|I|W)\s+")

_EPOCH = re.compile(r"^(?:.* )?(?:epoch|ep)(?: (?:num|no|number|id|idx|index))?\.?$")
_STEP = re.compile(
    r"^(?:.* |[a-z]*/)?(global step|num updates|iteration|iter|step|timestep|total timesteps|itr|it|batch|minibatch|"
    r"batch idx|update)s?(?: (?:num|no|number|id|idx|index))?\.?$"
)
_RANK = ("global step", "num updates", "iteration", "iter", "itr", "step", "timestep", "total timesteps", "it", "s")
_NOT_POSITION = re.compile(
    r"\b(?:per|every|max|num(?! updates)|total(?! timesteps)|warm ?up|save|log|best|time|skipped|start|ms|s|accumulation|for|after)\b"
)

_WEAK = re.compile(r"\blr\b|learning rate|norm\b|\bgrad|\berror\b|\bscore\b|\bm?ap\b|\bprecision\b|\breturn\b|\btime\b")
# words of results, and of settings that only carry such a word (linear-time patterns, over lower case)
RESULT = (
    r"loss|accura|perplexity|reward|entropy|recall|grad ?norm|\bf1|"
    r"\b(?:acc\d?|ppl|nll|elbo|kld?|bpb|bpc|bleu|auc|auroc|map\d*|m?iou|psnr|ssim|fid|r?mse|mae|wer|cer|dice|rouge\w?|mrr|ndcg|mcc)\b"
)
SETTING = (
    r"\b(?:weights?|coefs?|coeff|coefficient|alpha|beta|gamma|lambda|scaler?|smoothing|type|fn|func|functions?|name|file|path|dir|max|min|"
    r"num|number|n|size|steps?|every|interval|freq|warm ?up|decay|clip|threshold|target|init|model|models|head|layers?|dim|"
    r"patience|delta|window|chunk|batch|bits|code|seed|version|id|line|map location|params|parameters|using|use|with|for|from)\b"
)
_STRONG, _SETTING = re.compile(RESULT), re.compile(SETTING)
_NEVER = re.compile(
    r"^(?:v num|version|seed|pid|rank|local rank|world size|port|job|jobid|id|gpus?|node|line|errno|exitcode|exit code|code|signal|"
    r"eta|wall|date|run|trial|fold|\w|[xyz] [a-z]|(?:ms|s)/(?:it|step))$|https?|\\|\.py\b|\.\w{2,4}$"
)
_SPLIT = re.compile(r"\b(?:train|training|test|testing|val|valid|validation|eval|evaluation|dev)\b")
_EVALUATION = re.compile(
    rf"(?:^|[\[|({CLOCK}{SLOT}]|\s-)\s*(test|testing|val|valid|validation|validate|validating|eval|evaluation|evaluating|dev)\b"
    rf"(?:\s?[:\])|]|\s-|\s?\[|\s(?:epoch|step|iter))",
    re.IGNORECASE,
)
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
    key: str  # as printed
    plain: str  # lower case, blanks for _ and -
    separated: bool
    bounded: bool  # a key without separator that stands alone between delimiters
    role: Role | None = None


def read(shape: str, count: int) -> Shape | None:
    """The meaning of a shape that `count` lines have, or None where nothing in it is a measurement or a position."""
    parts = shape.split(SLOT)
    numbers = _numbers(parts)
    keras = bool(re.search(rf"{SLOT}/{SLOT}\s?{KERAS}|^{SLOT}/{SLOT} (?:{KERAS}|-) ?.*{SLOT}m?s\b", shape))
    bar = BAR in shape or keras or KERAS in shape
    _positions(numbers, parts)
    evaluation = _EVALUATION.search(shape)
    slots = [Slot(n.index, n.role) for n in numbers if n.role]
    metrics = _metrics(numbers, count, evaluation.group(1) if evaluation else "")
    header = not metrics and any(s.role == "epoch" for s in slots)
    if not metrics and (not header or re.search(r"\b(?:end|sav|finish|complet|done|best)", shape, re.IGNORECASE)):
        return None
    return Shape((*slots, *metrics), bar, keras, bool(evaluation), header)


def _numbers(parts: list[str]) -> list[_Number]:
    """The slots that can be values or positions, with the key printed before each."""
    found, before = [], parts[0]
    for index, after in enumerate(parts[1:]):
        unit = _UNIT.match(after)
        rest = after[unit.end() :] if unit else after
        last = index == len(parts) - 2
        if _ENDS.match(rest) and (rest or last or unit) and not (rest == "," and not last):
            found.append(_keyed(index, before, rest))
        before = rest
    return found


def _keyed(index: int, before: str, after: str) -> _Number:
    text = before[-120:]
    separator = _SEPARATOR.search(text)
    key = text[: separator.start()] if separator else text
    if after.startswith(("%" + BAR, BAR)) or (not separator and key and not key.endswith((" ", "["))):
        return _Number(index, "", "", False, False)
    key = key.rstrip(" [\"'")
    unit = _PARENTHESIS.search(key)
    pieces = _CUT.split(key[: unit.start()] if unit else key)
    name = _LEVEL.sub("", pieces[-1].strip(" \t-*#~>!?.\\")).replace(JOIN, " ")
    words = name.split()
    if len(words) > 4 or _PROSE.search(name):
        name, pieces = _tail(words), []
    plain = re.sub(r"[\s_\-]+", " ", name.lower())
    name += unit.group() if unit and name else ""
    return _Number(index, name, plain, bool(separator), bool(pieces) and len(words) <= 2)


def _tail(words: list[str]) -> str:
    """The end of a sentence that consists of metric words only."""
    start = len(words)
    while start and _WORDS.match(words[start - 1]):
        start -= 1
    return " ".join(words[start:])


def _positions(numbers: list[_Number], parts: list[str]) -> None:
    """Marks epochs, steps and counters `i/n`; of several step-like numbers the one that counts furthest wins."""
    by_index = {n.index: n for n in numbers}
    steps = []
    for n in numbers:
        total = by_index.get(n.index + 1) if re.fullmatch(r"\s?/\s?|\sof\s", parts[n.index + 1]) else None
        step = None if _NOT_POSITION.search(n.plain) else _STEP.match(n.plain)
        if _EPOCH.match(n.plain) and not _NOT_POSITION.search(n.plain):
            n.role = "epoch"
        elif step:
            steps.append((_RANK.index(step[1]) if step[1] in _RANK else len(_RANK), n, total))
        elif n.plain == "s" and n.separated and n.index == 0:
            steps.append((_RANK.index("s"), n, total))
        elif total and not n.plain and not re.fullmatch(r"\s?/\s?", parts[n.index + 2]):
            steps.append((len(_RANK) + 1, n, total))
        if total:
            total.key = total.plain = ""
    if any(BAR in p for p in parts):  # the counter is exact, a step beside it may be rounded
        steps.sort(key=lambda s: -s[0])
    else:
        steps.sort(key=lambda s: s[0])
    for rank, n, total in steps[:1]:
        n.role = "step" if rank < len(_RANK) and not total else "batch"
        if total:
            total.role = "total"
    for _, n, _ in steps[1:]:
        n.key = n.plain = ""
    for extra in [n for n in numbers if n.role == "epoch"][1:]:
        extra.role, extra.key, extra.plain = None, "", ""


def _metrics(numbers: list[_Number], count: int, evaluation: str) -> list[Slot]:
    candidates = [n for n in numbers if not n.role and _nameable(n)]
    strong = {n.index for n in candidates if _STRONG.search(n.plain) and not _SETTING.search(n.plain)}
    placed = any(n.role in ("step", "batch", "epoch") for n in numbers)
    often = count >= 3
    slots: list[Slot] = []
    split = evaluation
    for n in candidates:
        known = n.index in strong or _STRONG.search(n.plain) or _WEAK.search(n.plain)
        rest_ok = (placed or strong) and often or (placed and strong and n.separated)
        if not (n.index in strong or (rest_ok and (known or n.separated or n.bounded))):
            continue
        own = _SPLIT.search(n.plain)
        name = f"{evaluation} {n.key}" if evaluation and not own else n.key
        if any(s.name == name for s in slots):
            if not split or own:
                continue
            name = f"{split} {n.key}"
        split = own.group() if own else split
        slots.append(Slot(n.index, "metric", name))
    return slots


def _nameable(n: _Number) -> bool:
    return (
        0 < len(n.key) <= 40
        and bool(re.search(r"[^\W\d_]", n.key))
        and n.key[0] not in "/~$"
        and n.key.count("/") < 4
        and not _NEVER.search(n.plain)
    )
