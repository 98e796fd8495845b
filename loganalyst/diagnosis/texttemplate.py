"""Texts of rules with placeholders for the run's values, `{feature}` or `{feature:format}`, checked when loaded."""

import math
import re
from collections.abc import Mapping
from string import Formatter

import msgspec

from loganalyst.errors import RuleError, nearest
from loganalyst.model import Feature, FeatureValue
from loganalyst.model.timespan import duration

MAX_TEXT = 200  # characters of a text value that are shown
MAX_DIGITS = 6  # numbers below a million show all their digits

SAMPLES: dict[str, FeatureValue] = {"float": 0.5, "int": 3, "bool": True, "text": "value"}
_SPEC = re.compile(r"[-+]?,?(\.[0-9]{1,2})?[defg%]?")  # `.2g`, `+.1%`, `,`, `d`
# ` spikes in total` after the number 1; no verb such as `takes`
_PLURAL = re.compile(r"^( (?:code|evaluation|expert|line|mode|path|point|spike|step|tensor|time|token|value))s\b")
_STEP = re.compile(r"\bstep $")  # before a number: `fell at step `
STEPS_ARE_ROWS = "run_steps_are_rows"  # the feature that says that steps number the rows from 0
RANKS = "ranks"  # format of a text that lists ranks: `rank 2`, `ranks 0-1, 3`
DURATION = "duration"  # format of a number of seconds: `2 d 16 h`
SIZE = "size"  # format of a number of GiB: `2.93 GiB`, `100 MiB`
MAX_PERCENT = 3.0  # shares above 300 % are shown as factors
NEARLY_ALL, MOST_SHOWN = (
    0.995,
    0.9999,
)  # a fall from the first on has two decimals; above the second: "more than 99.99 %"
MIN_MOVED = 0.0005  # a smaller change would be shown as 0.0 %
# Formats of a float that is a share of something, and what 0.4 and 7.6 are in them.
# above: `40 % above`, `8.6 times`; below: `40 % below`; of: `40 % of`, `7.6 times`; fell: `fell by 40 %`
RELATIVE = ("above", "below", "of", "fell")


class Template(msgspec.Struct, frozen=True):
    """A checked text. `parts` are (literal, feature or None, format) in order."""

    text: str
    parts: tuple[tuple[str, str | None, str], ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The features named, in order."""
        return tuple(name for _, name, _ in self.parts if name is not None)

    def render(self, values: Mapping[str, FeatureValue]) -> str | None:
        """The text with the values filled in; None if one of them is not known. Steps that number the rows are said as
        rows: `step 30` is `row 31` then.
        """
        if any(values.get(name) is None for name in self.features):
            return None
        shown, before = "", ""
        for text, name, spec in self.parts:
            literal, filled = _placed(text, values[name] if name else "", rows=bool(values.get(STEPS_ARE_ROWS)))
            value = show(filled, spec) if name else ""
            shown += _article(_counted(before, literal), value) + value
            before = value
        return shown


def _placed(text: str, value: FeatureValue, *, rows: bool) -> tuple[str, FeatureValue]:
    """The text before a step and the step; if steps number the rows, the row from 1."""
    if rows and isinstance(value, int) and _STEP.search(text):
        return _STEP.sub("row ", text), value + 1
    return text, value


def _counted(value: str, text: str) -> str:
    """The text after a value, with the singular after 1: `1 spike`."""
    return _PLURAL.sub(r"\1", text) if value == "1" else text


def _article(text: str, value: str) -> str:
    """The text before a value, with `an` instead of `a` where the value is spoken with a vowel first: `an 8 % rise`."""
    vowel = re.match(r"[aeioAEIO]|8|1[18](?![\d,])", value) is not None
    return f"{text[:-2]}an " if vowel and re.search(r"\ba $", text) else text


def template(text: str, declared: Mapping[str, Feature], where: str = "text") -> Template:
    """Check one text. Raises RuleError for an undeclared name, an attribute, an index or a format that does not fit."""
    try:
        found = list(Formatter().parse(text))
    except ValueError as error:
        raise RuleError(where, f"text is not well formed ({error})", "a brace is written {{ or }}") from None
    for _, name, spec, conversion in found:
        if conversion:
            raise RuleError(
                where, f"conversion !{conversion} in a placeholder", "placeholders are {name} or {name:.2g}"
            )
        if name is not None:
            _check(name, spec or "", declared, where)
    return Template(text, tuple((literal, name, spec or "") for literal, name, spec, _ in found))


def _check(name: str, spec: str, declared: Mapping[str, Feature], where: str) -> None:
    if name not in declared:
        hint = nearest(name, declared) or "placeholders are plain names of declared features"
        raise RuleError(where, f"placeholder {{{name}}} is no feature", hint)
    dtype = declared[name].dtype
    try:
        fits = _SPEC.fullmatch(spec) is not None and (not spec or dtype in ("float", "int"))
        fits = fits or (spec == RANKS and dtype == "text") or (spec in RELATIVE and dtype == "float")
        fits = fits or (spec == DURATION and declared[name].unit == "s" and dtype == "float")
        fits = fits or (spec == SIZE and declared[name].unit == "GiB" and dtype == "float")
        show(SAMPLES[dtype], spec if fits else "")
    except ValueError:
        fits = False
    if not fits:
        raise RuleError(
            where, f"format {spec!r} does not fit {name} ({dtype})", "numbers allow e.g. .2g .1f .0% , d; text ranks"
        )


def show(value: FeatureValue, spec: str = "") -> str:
    """One value for people: whole numbers with thousands separators, floats with four digits, text on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        line = " ".join(value.split())
        line = f"rank{'' if line.isdecimal() else 's'} {line}" if spec == RANKS else line
        return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…"
    if spec in RELATIVE and isinstance(value, (int, float)):
        return relative(value, spec)
    if spec == DURATION and isinstance(value, (int, float)):
        return duration(value)
    if spec == SIZE and isinstance(value, (int, float)):
        return size(value)
    if spec.endswith("%") and isinstance(value, float) and 0.99 < abs(value) < 1:
        value = math.floor(1000 * abs(value)) / math.copysign(1000, value)  # 99.97 % is not all of it
        spec = ".1%" if format(value, spec).lstrip("+-").startswith("100") else spec
    spec = spec or ("," if isinstance(value, int) else ".4g")
    return _plain(format(value, spec), all_digits=not spec.endswith("e"))


def size(gib: float) -> str:
    """A size of memory: in MiB below 1 GiB, so that a small request does not read as none.

    >>> size(100 / 1024), size(2.934), size(11.17), size(44.0), size(1_050_585.0), size(0.0)
    ('100 MiB', '2.93 GiB', '11.2 GiB', '44 GiB', '1,050,585 GiB', '0 MiB')
    """
    if abs(gib) < 1:
        return f"{_plain(format(1024 * gib, '.3g' if abs(gib) < 0.09 else '.0f'), all_digits=True)} MiB"
    return f"{format(gib, ',.2f' if abs(gib) < 10 else ',.1f').removesuffix('.0').removesuffix('.00')} GiB"


def _nearly_all(share: float) -> str:
    """A share that is nearly all, in per cent: it does not read as all.

    >>> _nearly_all(0.9964), _nearly_all(0.999999)
    ('99.64 %', 'more than 99.99 %')
    """
    shown = min(math.floor(share * 10_000 + 1e-6) / 10_000, MOST_SHOWN)
    return f"{'more than ' if shown == MOST_SHOWN < share else ''}{100 * shown:.2f} %"


def relative(share: float, form: str) -> str:
    """A share in one of the forms RELATIVE: in per cent up to 300 %, else as a factor.

    >>> from loganalyst.diagnosis.texttemplate import relative
    >>> relative(0.4, "above"), relative(7.63, "above"), relative(-0.19, "above")
    ('40 % above', '8.63 times', '19 % below')
    >>> relative(0.4, "of"), relative(146.75, "of")
    ('40 % of', '147 times')
    >>> relative(0.045, "fell"), relative(-0.045, "fell"), relative(-2.7, "fell"), relative(-11053.4, "fell")
    ('fell by 4.5 %', 'rose by 4.5 %', 'rose by 270 %', 'rose to 11,054 times its first level')
    >>> relative(0.99964, "fell"), relative(0.9999999, "fell"), relative(1.0, "fell")
    ('fell by 99.96 %', 'fell by more than 99.99 %', 'fell by 100 %')
    >>> relative(0.0001, "fell")
    'did not change'
    """
    size = -share if form in ("below", "fell") else share
    percent = _plain(format(abs(share), ".0%" if abs(share) >= 0.1 else ".1%"), all_digits=True)
    percent = _nearly_all(abs(share)) if size < 0 and NEARLY_ALL <= abs(share) < 1 else percent
    factor = _plain(format(share if form == "of" else 1 + size, ".3g"), all_digits=True)
    factor = f"{share if form == 'of' else 1 + size:,.0f}" if abs(share) >= 1000 else factor
    if form == "of":
        return f"{percent} of" if share <= MAX_PERCENT else f"{factor} times"
    if form == "fell":
        if abs(share) < MIN_MOVED:
            return "did not change"
        if share > MAX_PERCENT:  # only a loss that may become negative falls by more than its first level
            return f"fell by {share:,.0f} times its first level"
        moved = "rose" if size > 0 else "fell"
        return f"rose to {factor} times its first level" if size > MAX_PERCENT else f"{moved} by {percent}"
    return f"{factor} times" if size > MAX_PERCENT else f"{percent} {'above' if size >= 0 else 'below'}"


def _plain(text: str, *, all_digits: bool) -> str:
    """A formatted number as people write it: `45 %`, `2,450` for 2.45e+03, `1e-5` for 1e-05."""
    if text.endswith("%"):
        return f"{text[:-1]} %"
    digits, e, power = text.partition("e")
    if not e or not power.lstrip("+-").isdecimal():
        return text
    exponent = int(power)
    return f"{float(text):,.0f}" if all_digits and 0 < exponent < MAX_DIGITS else f"{digits}e{exponent}"
