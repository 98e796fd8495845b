"""Layouts of printed numbers, written again as pairs of a name and a number, before a line's form is taken.

Each entry is a pattern, its replacement, and texts (lower case) of which each match contains one. Few logs contain
most of them, and building a pattern's engine takes longer than running it on a short log: 40 ms for a pattern of
letters in all scripts. For those a regex of Python looks for a part of each match (`_PARTS`).
"""

import re
from itertools import starmap
from typing import NamedTuple

import polars as pl

from loganalyst.sources.text.lines.numberwords import BAR, CLOCK, JOIN, KERAS

# `2024-05-01 10:00:02,123`, `2024/05/01`, `05/01 10:00:02`, `1:02:03.5`
TIME = (
    r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"
    r"(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|(?:\b[0-9]{1,2}/[0-9]{2} )?\b[0-9]{1,3}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?\b"
)
# nan as a word ("number of nan iterations") is joined to its neighbour. "loss: nan grad_norm: 2" and "loss nan step 5"
# hold numbers before the next name.
BEFORE_NAN = r"\b(of|skip(?:ped)?|found|detected|any|no|contains?|has|for|or|and|if|check)"
# `nan iterations`, `inf detected`
AFTER_NAN = r"(?:iterations|batches|steps|grads|gradients|values?|detected|found|encountered|in)\b"
_BLANKS = tuple(c for c in map(chr, range(0x3001)) if c.isspace() and c not in " \n")  # U+3000 is the last one
_VALUE = r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?i:nan|inf)\b)"  # `0.5`, `-1e-5`, `nan`
_PAIRED = "(?i:mean|median|avg|average|min|max|train|training|val|valid|validation|test)"  # words before `/`
_NAN_WORDS = (rf"{BEFORE_NAN} ((?i:nan|inf)\b)", rf"(^|[^:=] )((?i:nan|inf) {AFTER_NAN})")
_POINT = r"[-+]?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?"  # `0.5`, `1.5e-3`: a number with a decimal point
# The parts of patterns: `0.5 / 0.6`, `: 0.5, 0.6`, `/val loss: 0.5`. Commas are not yet points here
_TWO_POINTS = re.compile(r"[0-9] ?/ ?[-+]?[0-9,]*[.,][0-9]")
_TWO_LISTED = re.compile(r"[|:] ?[-+]?[0-9,]*[.,][0-9]+(?:e[-+]?[0-9]+)?, ?[-+]?[0-9,]*[.,][0-9]")
_FROM_TO = re.compile(r"[a-z]{3,9} from [-+]?[0-9.naif]")  # `fell from 0.5`
_THREE_BARS = re.compile(r"\|[^|\s]+\|[^|\s]+ ?[:=] ?[-+0-9.,a-z]+ ?\|")  # `l1|gan|tv: 0.5|`
_GLUED = re.compile(r"[.,][0-9]+[^\s\d.,][^\s.,]{2,23} ?[:=]")  # `.5Loss3:`
_POSITION_INSIDE = re.compile(
    r"[\[(][^\[\]()]{0,30}(?:epoch|ep|step|iter|batch)[^\[\]()]{0,40}[\])] ?[:=]"
)  # `[step: 3] =`
_TWO_OF_ONE = re.compile(rf"/{_PAIRED} \S{{1,60}} [-+]?(?:[0-9.]|nan|inf)")
SHORT = 50_000  # characters: in longer texts one does not look for parts
_CJK = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"  # letters of scripts that put no blank before a number
_OF = r"(?:из|de|von|sur|di|van|ze?|av|af|dari)"  # `of` in other languages


class _Layout(NamedTuple):
    pattern: str
    by: str
    words: tuple[str, ...]
    part: re.Pattern[str] | None = None

    def may_occur(self, lowered: str, *, changed: bool) -> bool:
        """Whether the text, in lower case before another layout `changed` it, may hold the pattern."""
        return any(word in lowered for word in self.words) and (
            changed or self.part is None or len(lowered) > SHORT or self.part.search(lowered) is not None
        )


_ENTRIES = (
    (r"[\x00-\x08]", "", tuple(map(chr, range(9)))),  # our marks must not occur
    (r"(IoU=[\d.]+):", "$1-", ("iou=",)),  # COCO's `IoU=0.50:0.95` becomes `IoU=0.50-0.95`
    # a line `tensor(0.5, grad_fn=<MeanBackward0>)`: of the values with a gradient a program prints a loss
    (rf"^tensor\(({_VALUE}), (?:device='[\w:]+', )?grad_fn=<\w+>\)$", "loss tensor: $1", ("grad_fn=",)),
    # `tensor(0.5, device='cuda:0')`, `Array(0.5, dtype=float32)`, `tensor(0.5)`
    (r"\b(?:tensor|(?:Device)?Array)\(([-+.\da-zA-Z]+)(?:, ?[a-z_]+=[^(),]*)*\)", "$1", ("tensor(", "array(")),
    # printed tuples and OrderedDicts: `('Epoch: ', 3)`, `('loss', 0.5, 'acc', 0.9)`, `([('loss', 0.5)])`,
    # `('cost=', '0.5')`
    (rf"'([A-Za-z][^',:=]{{0,39}}?)\s?[:=]?\s?', ?'?(\[?{_VALUE})'?", "'$1': $2", ("', ",)),
    # `mean/median reward 26.4/27`, `train/val loss: 0.5 / 0.6`: two results and their values
    (
        rf"\b({_PAIRED})/({_PAIRED}) (\w{{1,30}})(:?) ({_VALUE}) ?/ ?({_VALUE})\b",
        "$1 $3: $5, $2 $3: $6",
        ("mean/", "avg/", "average/", "min/", "max/", "train/", "training/", "val/"),
        _TWO_OF_ONE,
    ),
    # `loss (train/val): 0.5/0.6`
    (
        rf"\b(\w{{1,30}}) \(({_PAIRED})/({_PAIRED})\) ?[:=] ?({_VALUE}) ?/ ?({_VALUE})\b",
        "$2 $1: $4, $3 $1: $5",
        ("(train/", "(training/", "(mean/", "(min/", "(val/"),
    ),
    # `P/R/F1: 0.5/0.6/0.7`, `[validation] accuracy/loss: 0.5/0.6`: the names, then their values
    (
        rf"\b(\pL\w{{0,20}})/(\pL\w{{0,20}})/(\pL\w{{0,20}}) ?[:=]? ?({_POINT}) ?/ ?({_POINT}) ?/ ?({_POINT})",
        "$1: $4, $2: $5, $3: $6",
        ("/",),
        _TWO_POINTS,
    ),
    (rf"\b(\pL\w{{0,20}})/(\pL\w{{0,20}}) ?[:=]? ?({_POINT}) ?/ ?({_POINT})", "$1: $3, $2: $4", ("/",), _TWO_POINTS),
    # `train acc, test acc | 0.5, 0.6`
    (
        rf"^(\pL[\w ]{{0,30}}), ?(\pL[\w ]{{0,30}}?) ?[|:] ?({_POINT}), ?({_POINT})$",
        "$1: $3, $2: $4",
        ("|", ":"),
        _TWO_LISTED,
    ),
    # `loss pix|gan|tv: 0.5|0.6|0.7`: a measure, its parts, then their values
    (
        r"\b(\pL\w{0,20}) (\w{1,20})\|(\w{1,20})\|(\w{1,20}) ?[:=]"
        rf" ?({_VALUE}) ?\| ?({_VALUE}) ?\| ?({_VALUE})",
        "$1 $2: $5, $1 $3: $6, $1 $4: $7",
        ("|",),
        _THREE_BARS,
    ),
    # no blank between a number and the next name: `Loss1:0.5Loss3:0.6`
    (r"(\.[0-9]+)(\pL[\pL_]{2,20}[0-9]{0,3} ?[:=])", "$1 $2", (":", "="), _GLUED),
    # a name, its position in brackets, then the value: `Training loss [step: 3, ep: 1] = 0.5`
    (
        r"^(\W{0,9})(\pL[\pL ]{2,40}?)"
        rf" ?[\[(]([^\[\]()]{{0,30}}(?i:epoch|ep|step|iter|batch)[^\[\]()]{{0,40}})[\])] ?[:=] ?({_VALUE})",
        "$1$3, $2: $4",
        ("] =", "]=", "]:", "] :", ") =", ")=", "):", ") :"),
        _POSITION_INSIDE,
    ),
    # `Cost improved from 0.6 to 0.5`: the new value
    (
        r"\b(\pL[\pL _]{1,30}?) (?:improved|decreased|dropped|reduced|increased|fell|rose|changed|went)"
        rf" from {_VALUE} to ({_VALUE})",
        "$1: $2",
        (" from ",),
        _FROM_TO,
    ),
    # `train_losses[epoch]=0.5`, as `f"{x=}"` prints a list's element
    (r"\b([A-Za-z]\w{1,30})\[(?:[A-Za-z]\w{0,20}|-1)\] ?= ?([-+]?[0-9.])", "$1=$2", ("]=", "] =")),
    # the number of a part belongs to the name: `Task 0 Loss 0.5`, `client 3 accuracy: 0.6`
    (
        r"\b(?i:(task|client|agent|head|branch|expert|domain|worker|user|member|network|net)) #?([0-9]{1,3})"
        r"(:? \pL[\pL_ ]{2,30}?[:= ]{1,3}[-+]?[0-9]*\.[0-9])",
        "$1-$2$3",
        (
            "task ",
            "client ",
            "agent ",
            "head ",
            "branch ",
            "expert ",
            "domain ",
            "worker ",
            "user ",
            "member ",
            "network ",
            "net ",
        ),
    ),
    (r"([0-9])f(-?[0-9]{1,2})\b", "${1}e$2", ("f0", "f-", "f1", "f2", "f3")),  # Julia's Float32: `0.5f0`, `1.0f-5`
    # no blank before a number: `损失0.53`, `验证loss0.53`; nor behind it: `38.4秒`
    (
        rf"({_CJK}[A-Za-z_]{{0,12}})([0-9]+\.[0-9]+)",
        "$1: $2",
        ("损", "失", "率", "度", "loss", "acc", "为", "は", "値"),
    ),
    (r"([0-9])(秒|分|小时|時間|초)", "$1 $2", ("秒", "分", "小时", "時間", "초")),
    (
        rf"^(\W{{0,9}}{_CJK}{{2,12}})([0-9]{{1,7}})(\s|[:,/|\]]|$)",
        "$1 $2$3",
        ("エポック", "에포크", "에폭", "轮", "步", "次", "回"),
    ),  # `エポック3 損失`
    (
        rf"^(\W{{0,9}}\pL+ [0-9]+) {_OF} ([0-9]+)\b",
        "$1/$2",
        (" из ", " de ", " von ", " sur ", " di ", " van ", " z ", " ze ", " av ", " af ", " dari "),
    ),
    # a counter and its number in one word: `ep01`, `Epoch-3:`, `e3 loss`
    (
        r"(^|[\s\[(|,])(?i:(epoch|ep|iteration|iter|step|it))[-_#]?([0-9]{1,9})(\s|[:|,\])]|$)",
        "$1$2 $3$4",
        ("ep", "it"),
    ),
    (r"(^|\s)[eE]([0-9]{1,5})(\s+[a-z|]|:)", "${1}epoch $2$3", ("e",)),
    # thousands: `10k | return 3`, `step 10k`, `frames: 2M`
    (r"^\s*([0-9]+)[kK]( ?[|:,] ?[A-Za-z])", "${1}000$2", ("k",)),
    (r"\b(?i:(steps?|frames|timesteps|iters?|iteration|samples))([:= ]{1,3})([0-9]+)[kK]\b", "$1$2${3}000", ("k",)),
    (r"^\s*([0-9]+)M( ?[|:,] ?[A-Za-z])", "${1}000000$2", ("m",)),
    (r"\b(?i:(steps?|frames|timesteps|iters?|iteration|samples))([:= ]{1,3})([0-9]+)M\b", "$1$2${3}000000", ("m",)),
    # a loss and an accuracy of the same data: `train 0.58 / 59.1%`
    (
        r"\b(?i:(train|training|trn|val|vld|valid|validation|test))(:? )([0-9]*\.[0-9]+) ?/ ?([0-9]*\.?[0-9]+ ?%)",
        "$1$2$3 ${1}$2$4",
        ("/",),
    ),
    # two measures of the same data: `train 0.58 / 0.59`
    (
        r"\b(?i:(train|training|trn|val|vld|valid|validation|test))(:? )([0-9]*\.[0-9]+) ?/ ?([0-9]*\.[0-9]+)\b",
        "$1$2$3 ${1}_2$2$4",
        ("/",),
    ),
    (r"第\s?([0-9]+)\s?(轮|步|代|次|回合|个? ?epoch)\s?", "第 $1 $2 ", ("第",)),  # `第3轮损失`
    (r"\b([Rr])(?:\^2|²)", "${1}2", ("r^2", "r²")),
    (r"([0-9]|\b(?i:nan|inf))(?:\.{2,}|…)(\s|$)", "$1,$2", ("..", "…")),  # `Loss: 0.514.. Test Loss: nan...`
    (  # COCO's `Average Precision  (AP) @[ IoU=0.50 | area=   all | maxDets=100 ]` becomes `AP@0.50_all_100`
        r"Average \w+ +\((A[PR])\) @\[ *IoU=([\d.-]+) *\| *area= *(\w+) *\| *maxDets= *(\d+) *\]",
        "$1@${2}_${3}_$4",
        ("average ",),
    ),
    # `eval 20: train 1.05 | val 1.19`, `[eval @ 20] train: 1.05`: the step of the evaluation
    (r"^(\W{0,9})(?i:eval|evaluation)(?: @| at)? ([0-9]+)(\]?:|\])", "${1}step ${2}$3", ("eval ", "evaluation ")),
    *((wide, plain, (wide,)) for wide, plain in zip("：，；（）", ":,;()", strict=True)),
    # Kaldi: `minibatches 0-9 is -3.5`; ESPnet: `1epoch:train:1-50batch:`
    (r"(minibatches |:)([0-9]+)-([0-9]+)( is\b|batch:)", "$1$2 to $3$4", ("minibatches ", "batch:")),
    (r"(:-?[0-9]+\.[0-9]+)\+([0-9]+\.[0-9]+)", "$1 + $2", ("+",)),  # mean and deviation: `test-rmse:0.5+0.01`
    # Julia's @show of a call, perhaps tracked: `loss(x, y) = 0.5 (tracked)`
    (r"^(\w+)\([^=\"]*\) = (?:param\()?([-+.\w]+)\)?(?: \(tracked\))?$", "$1 = $2", (") = ",)),
    (r"\b(?i:(top)) ([0-9]{1,3}) ((?i:acc))", "$1$2 $3", ("top ",)),  # `top 5 acc`
    (TIME, CLOCK, (":", "-", "/")),
    (r"^(\W*Map(?: \(num_proc=[0-9]+\))?): +[0-9]{1,3}%$", "$1", ("map",)),  # a bar of datasets that lost its drawing
    (r"%\|[^|]*\|", "%" + BAR, ("%|",)),  # `37%|███   |`
    (r"(?i)\b(nan|inf)\.0\b", "$1", ("nan.0", "inf.0")),  # Lightning's bars: `loss=nan.0`
    # zero-padded as `:06.3f` prints it (`000nan`), and Julia's `NaN32`
    (r"(?i)(^|[^\w.])(-?)0+(nan|inf)\b", "$1$2$3", ("0nan", "0inf")),
    (r"(?i)\b(nan|inf)(?:16|32)\b", "$1", ("nan32", "inf32", "nan16", "inf16")),
    (r"\[=*>?\.{3,}\]|\[=+>?\.*\]|━[━╸╺─ ]*", KERAS, ("[=", "[>", "[.", "━")),  # `[==>....]`, `━━━───`
    *((pattern, f"$1{JOIN}$2", ("nan", "inf")) for pattern in _NAN_WORDS),
    (r"\s+", " ", ("  ", *_BLANKS)),
)
_LAYOUTS = tuple(starmap(_Layout, _ENTRIES))
# names and numbers in turn, with one separator between all: `epoch;3;train_loss;0.5`, `step,30,loss,0.5`
_TURN = rf"([A-Za-z_][\w ./-]{{0,40}})[;,|:] ?({_VALUE})"
_IN_TURN = rf"^\s*{_TURN}(?:\s?[;,|\t] ?{_TURN})+[;,|]?\s*$"
_FIRST_TURNS = re.compile(r"[a-z_][;,|:] ?[-+]?(?:[0-9.]|nan|inf)[^;,|\t\n]{0,30}[;,|\t] ?[a-z_]")  # `epoch;3;t`


def rewritten(text: pl.Expr, lowered: str) -> pl.Expr:
    """The lines with these layouts written again; `lowered` is the text of all of them in lower case, whose decimal
    commas and commas between thousands may have been changed since.

    >>> lines = pl.DataFrame({"text": ["dev P/R: 0.5/0.6"]})
    >>> lines.select(rewritten(pl.col("text"), "dev p/r: 0.5/0.6")).item()
    'dev P: 0.5, R: 0.6'
    """
    changed = False
    if len(lowered) > SHORT or _FIRST_TURNS.search(lowered):
        text = pl.when(text.str.contains(_IN_TURN)).then(text.str.replace_all(_TURN, "$1: $2")).otherwise(text)
    for layout in _LAYOUTS:
        if layout.may_occur(lowered, changed=changed):
            text, changed = text.str.replace_all(layout.pattern, layout.by), True
    return text
