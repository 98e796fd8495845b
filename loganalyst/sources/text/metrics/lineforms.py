"""The form of a log line: its text with every number replaced by a slot, and the regex that matches similar lines.

A form is interpreted once (`lineshapes`). One linear regex then parses all lines that have it, their numbers
column-wise.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberwords import BAR, CLOCK, JOIN, KERAS, SLOT
from loganalyst.sources.text.metrics import digitcolumns as columns
from loganalyst.sources.text.metrics import lineshapes, plainpairs, printedforms, shapeparts
from loganalyst.sources.text.metrics.layoutfile import regex
from loganalyst.sources.text.metrics.lineshapes import Shape

# `0.5`, `-1e-5`, `.5`, `nan`, `+inf`; not the 3 in `conv3` or `v1.3`
_NUMBER = (
    r"(^|[^\w.@+\-" + JOIN + r"])([-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?i:nan|inf(?:inity)?)\b))"
)
# `tps: 1,234 mfu: 38.5`, `iter:  12,000, lr: 0.1`: commas between thousands. The comma of `loss: 1,234` may be a
# decimal one, unless the line has a decimal point as well.
_THOUSANDS = (
    r"([:=] *)([1-9][0-9]{0,2}),([0-9]{3})(?:,([0-9]{3}))?(?:,([0-9]{3}))?(\.[0-9]+)?($|[^0-9.,]|[.,](?:\s|$))",
    "${1}${2}${3}${4}${5}${6}${7}",
)
_DECIMAL_POINT = r"[0-9]\.[0-9]"
# `Verlust 0,53`, `KL: 3,9366`: a decimal comma, in a line without a decimal point; not the pairs of `(3,3)`, `1,2,3`
_DECIMAL_COMMA = r"[\pL:=] ?[-+]?(?:[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})|0,[0-9]+)(?:$|[^0-9,])"
_COMMAS = (r"(^|[^0-9,])([0-9]+),([0-9]+)", "${1}${2}.${3}")
# Text whose numbers are not results: stack traces (`File "a.py", line 3`), source code (`self.x = 3`), settings
# (`Adam(lr=0.1`), package lists (`Collecting numpy==1.26`), totals (`'train_runtime': 12.5`)
NOISE = (
    r"^\s*File \"|^\s*(?:>>>|def |class |return |import |from |raise |assert |for |if |with |self\.|#|@)"
    r"|^[A-Za-z0-9_.]*(?:Error|Exception|Interrupt|Exit)\b|[A-Za-z0-9_]Warning:|\b[A-Z][A-Za-z0-9_]*\([A-Za-z0-9_]+="
    r"|\b(?:Namespace|Config)\("
    r"|^(?:Requirement already|Collecting|Downloading|Using cached|Installing|wandb:|\+ |srun:|slurmstepd:)"
    r"|train_runtime|\bself\b|^\s*\*\s+Acc@1|\*\*\*\*\* (?:train|eval) metrics"
)
# printed results behind a mark of Python's prompt or comments: `>>> epoch 3 loss=0.5`, `# Epoch 3: loss 0.5`,
# `#Iter=3`, `>>> loss_cls: 0.5`
PRINTED = (
    r"^\s*(?:>>>+|#+) ?\[?(?i:(?:training |train )?(?:epoch|step|iter|iteration|episode|round))"
    r"(?: ?[:=#\[|]| [0-9]|\[[0-9]|[0-9]|\s{2,}[A-Za-z])"
    r"|^\s*>>>+ ?[A-Za-z]\w{0,40}(?: \w{1,20})? ?: ?[-+.0-9eE]{1,30}\s*$"
)
# `loss is nan, skipping batch`, `loss nan - skipped`: once or twice, a batch that was left out is no part of the curve
_LEFT_OUT = re.compile(
    r"(?i)^\W*(?:\w+\W+)?(?:skipping|ignoring)\b"
    r"|\b(?:skipping|skipped|ignoring|ignored)(?: (?:this|the))?(?: (?:batch|minibatch|step|update|sample|iteration))?"
    rf"[^\w{SLOT}]*$"
)
_DIGITS = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"  # `-1.5e-5`; no nan
_DIGITS_OR_NAN = rf"(?:{_DIGITS}|[-+]?(?i:nan|inf(?:inity)?))"  # `-1.5e-5`, `nan`
_CLOCK_GROUP = "(?s:"  # equivalent to "(?:", and nowhere else in a template
_BAR_REGEX = r"\|[^|]*\|"
_MARKS = {JOIN: " ", BAR: _BAR_REGEX, KERAS: r"(?:\[=*>?\.{3,}\]|\[=+>?\.*\]|━[━╸╺─ ]*)", " ": r"[ \t]+"}
# A number, a time or a bar might end elsewhere than in the form: such forms have no template. Examples are `1/2/3`,
# `1:2`, `@1`
_UNSURE = re.compile(
    rf"@|IoU|{KERAS} |{SLOT}[\d.eE+\-{CLOCK}]|{SLOT}:{SLOT}|{SLOT}/{SLOT}/{SLOT}|{SLOT}/{SLOT} {CLOCK}"
    rf"|{CLOCK}(?:[\dTZ+\-]|[.,:]?[\d{CLOCK}{SLOT}]| {CLOCK})"
)

Rows = NDArray[np.int64]


@dataclass(eq=False)
class Form:
    """A form. `worth`: it is examined even if printed only once or twice; `noise`: its numbers are no results; `line`:
    a line that has it (None: no template is made of it).
    """

    text: str
    worth: bool
    noise: bool
    line: str | None = None
    often: bool = field(default=False)  # a batch had enough of it

    @cached_property
    def usual(self) -> Shape | None:
        """The meaning of the form where it is printed often."""
        return None if self.noise else self._meaning(shapeparts.MIN_LINES)

    @cached_property
    def _parts(self) -> shapeparts.Parts:
        return shapeparts.parts(self._plain or self.text, rare=False)

    @cached_property
    def _plain(self) -> str | None:
        """The text in plain words; None where no trainer explains it."""
        return printedforms.in_plain_words(self.text)

    def _meaning(self, count: int) -> Shape | None:
        return lineshapes.meaning(self._parts, count, explained=self._plain is not None)

    @cached_property
    def template(self) -> str | None:
        """A linear regex, one group a number, that matches only lines of this form; None where none is certain to."""
        return None if self.line is None else _template(self.text, self.line)

    @cached_property
    def columns(self) -> re.Pattern[str]:
        """The template for Python, with a named group around each time and bar; only for forms with a template."""
        number = count()
        named = re.sub(re.escape(_CLOCK_GROUP), lambda _: f"(?P<clock{next(number)}>", self.template or "")
        named = re.sub(re.escape(_BAR_REGEX), lambda _: rf"\|(?P<bar{next(number)}>[^|]*)\|", named)
        return re.compile(named, re.ASCII)

    @cached_property
    def rare(self) -> Shape | None:
        """The meaning of the form where it is printed once or twice."""
        if not self.worth or self.noise or _LEFT_OUT.search(self.text):
            return None
        if self._plain is None and shapeparts.has_lists(self.text):
            return lineshapes.read(self.text, 1)
        return self._meaning(1)

    def meaning(self, count: int) -> Shape | None:
        """The meaning of the form where a batch has `count` lines of it; a large count is remembered."""
        if count < 3:
            return self.rare if not (self.often and self.worth) else self.usual
        self.often = self.often or self.usual is not None
        return self.usual


def cleaned(text: pl.Series) -> pl.DataFrame:
    """Text (without times, bars and words that look like numbers) and form (String) of each line."""
    lowered, expr = str(text.str.join("\n").item()).lower(), pl.col("text")
    if text.str.contains(_THOUSANDS[0]).any():
        plain = expr.str.replace_all(*_THOUSANDS)
        expr = pl.when(expr.str.contains(_DECIMAL_POINT)).then(plain).otherwise(expr)
    if "," in lowered and text.str.contains(_DECIMAL_COMMA).any():
        plain = expr.str.replace_all(*_COMMAS)
        asked = expr.str.contains(_DECIMAL_COMMA) & ~expr.str.contains(_DECIMAL_POINT)
        expr = pl.when(asked).then(plain).otherwise(expr)
    expr = plainpairs.rewritten(expr, lowered)
    rows = pl.DataFrame({"text": text}).with_columns_seq(text=expr.str.strip_chars())
    return rows.with_columns_seq(form=pl.col("text").str.replace_all(_NUMBER, "${1}" + SLOT))


def is_noise(text: pl.Expr) -> pl.Expr:
    """Whether the numbers of a line, as printed, are no results."""
    return text.str.contains(NOISE) & ~text.str.contains(PRINTED)


def values(text: pl.Expr) -> pl.Expr:
    """The numbers (List of String, with the character before) of cleaned lines, one a slot of their form."""
    return text.str.extract_all(_NUMBER)


def value(words: pl.Expr | str) -> pl.Expr:
    """The numbers in a column of words from `values`."""
    words = pl.col(words) if isinstance(words, str) else words
    text = words.str.replace(r"^[^-+.0-9nNiI]", "").str.to_lowercase().str.strip_prefix("+")
    return text.str.replace("infinity", "inf", literal=True).cast(pl.Float64, strict=False)


def learn(raw: pl.Series) -> list[Form]:
    """The form of each line."""
    if not len(raw):
        return []
    forms = cleaned(raw).select("form", worth=printedforms.is_worth(pl.col("form")))
    noise = raw.to_frame("text").select(is_noise(pl.col("text"))).to_series()
    found = zip(forms["form"], forms["worth"], noise, raw, strict=True)
    return [Form(*parts) for parts in found]


def take(
    form: Form, chunk: Chunk, rows: Rows, least: int = columns.MIN_LINES
) -> tuple[NDArray[np.bool_], list[NDArray[np.float64]]]:
    """Which rows the form's template (it must have one) matches, and the number (float64) of each slot of those."""
    assert form.template is not None
    if len(rows) < least:
        return _extracted(form.template, chunk.some(rows))
    starts = chunk.starts[rows]
    lengths = chunk.starts[rows + 1] - 1 - starts
    matched, slots = columns.read(chunk.data, starts, lengths, form.columns, least=least)
    left = np.flatnonzero(~matched)
    if not len(left):
        return matched, slots
    more, others = _extracted(form.template, chunk.some(rows[left]))
    if not slots or not matched.any():
        matched[left] = more
        return matched, others
    first = np.flatnonzero(matched)
    matched[left] = more
    order = np.argsort(np.concatenate([first, left[more]]))
    return matched, [np.concatenate(both)[order] for both in zip(slots, others, strict=True)]


def _extracted(template: str, text: pl.Series) -> tuple[NDArray[np.bool_], list[NDArray[np.float64]]]:
    """As `take`, for texts, without columns."""
    found = text.str.extract_groups(template).struct.unnest()
    if not found.width:
        matched = text.str.contains(template)
        return matched.fill_null(value=False).to_numpy(), []
    matched = found.to_series().is_not_null()
    if not matched.all():
        found = found.filter(matched)
    return matched.to_numpy(), [column.cast(pl.Float64, strict=False).to_numpy() for column in found]


def _template(form: str, line: str) -> str | None:
    """The template of a form, made from one line that has it."""
    if _UNSURE.search(form) or len(form) > 4000 or not line.replace("\t", " ").isprintable():
        return None
    clocks = [
        re.sub(r"[0-9]", "[0-9]", re.escape(hit)) for hit in regex("<time>", re.ASCII).findall(line.replace("IoU=", ""))
    ]
    if form.count(CLOCK) != len(clocks) or any(":" not in clock for clock in clocks):
        return None
    parts = form.split(SLOT)
    clocks = [f"{_CLOCK_GROUP}{clock})" for clock in clocks]
    out = [_literal(parts[0], clocks)]
    for before, after in pairwise(parts):
        out += [f"({_number(before, after)})", _literal(after, clocks)]
    return rf"^\s*{''.join(out)}\s*$"


def _literal(text: str, clocks: list[str]) -> str:
    """The regex of a text between numbers."""
    text = re.sub(rf"(^| ){JOIN}", r"\1", text)
    return "".join(clocks.pop(0) if c == CLOCK else _MARKS.get(c) or re.escape(c) for c in text)


def _number(before: str, after: str) -> str:
    """The regex of the number between two texts; digits only, where nan next to them would be a word."""
    named = regex(" <after_nan>").match(after) and not re.search(r"[:=] $", before)
    tied = regex("<before_nan> $").search(before) or named or re.match(r"\w", after)
    return _DIGITS if tied else _DIGITS_OR_NAN
