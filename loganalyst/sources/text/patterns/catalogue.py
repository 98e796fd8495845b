"""The catalogue of log-line patterns (`rules/text/*.yaml`): loaded, checked, and matched in linear time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import polars as pl

from loganalyst.errors import RuleError
from loganalyst.model import constant
from loganalyst.model.labels import LOG_LABELS
from loganalyst.patterntraits import SIGNALS, TRAITS, PatternEntry
from loganalyst.rulefiles import Place, RuleFile, Shape, Text, check_names, refuse_name, text_files, typed
from loganalyst.sources.text.patterns import trainerlines
from loganalyst.sources.text.patterns.literals import Rows, find_literals, positions_by_number
from loganalyst.sources.text.patterns.trainerlines import TrainerLine
from loganalyst.trainerfiles import trainer_files

Part = Literal["aside", "root", "stop", "peer", "cascade", "confirm", "symptom", "advice", "end", "start", "work"]
# The order in which patterns claim a line that several match; within a part the catalogue's order (file, position)
PARTS: tuple[Part, ...] = get_args(Part)
# A line of source code that a traceback quotes, plain or in a box: it was not raised there.
# `│ ❱ 89 │ raise ValueError("x")`, `| 12 | "x"`, ` raise ValueError("x")`, ` assert x`, ` warnings.warn("x")`
_QUOTED = r"^\s*[│|]\s*(?:❱\s*)?\d+\s*[│|]|^\s+(?:raise|assert)\s|^\s+(?:\w+\.)?warn(?:ing)?\("
HITS = pl.Schema({"row": pl.UInt32, "pattern": pl.String, "captures": pl.String})


@dataclass(frozen=True, eq=False)
class Pattern:
    """One kind of line. `regex` is matched on the text behind rank and node prefixes; one of `literals` is in each
    match.

    `label` is a common label or None; `generic` patterns claim only lines that no other pattern claims. Patterns are
    compared by identity, because hundreds are looked up at once, batch by batch.
    """

    id: str
    label: str | None
    part: Part
    literals: tuple[str, ...]
    regex: str
    exclude: str | None
    generic: bool
    match: tuple[str, ...]
    no_match: tuple[str, ...]
    place: Place
    alone: bool = False  # behind its literals no letter follows in the line

    @property
    def where(self) -> str:
        """Its place, `path:line`."""
        return self.place.where


class Also(NamedTuple):
    """More texts to search for with the patterns' literals: each line that has them, or one of those is enough."""

    each: tuple[str, ...] = ()
    once: tuple[str, ...] = ()


class _File(Shape, frozen=True):
    family: Text
    patterns: list[Any]


_NO_MORE = Also()


@cache
def catalogue() -> tuple[Pattern, ...]:
    """Our patterns, in the order in which they claim a line. Raises RuleError.

    Regexes are compiled when a line needs them; the tests check that all compile, so a start need not.
    """
    found: list[Pattern] = []
    seen: dict[str, Pattern] = {}
    for file in text_files():
        found += [_read_pattern(file, i) for i in range(_count_patterns(file))]
    for pattern in found:
        if seen.setdefault(pattern.id, pattern) is not pattern:
            raise duplicate_id(pattern, seen[pattern.id])
    named = {pattern.id: pattern for pattern in found}
    return ordered([*found, *(of_trainer(line, named) for line in trainerlines.lines(trainer_files()))])


def of_trainer(line: TrainerLine, named: Mapping[str, Pattern]) -> Pattern:
    """The pattern of a trainer's line: it means what the pattern in `named` with its id means."""
    known = named[line.id]
    return replace(
        known, literals=(line.text,), regex=line.regex, exclude=None, generic=False, match=(line.example,),
        place=line.place,
    )  # fmt: skip


def ordered(found: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """The patterns in the order in which they claim a line; equal ones keep their order."""
    return tuple(sorted(found, key=lambda p: (p.generic, PARTS.index(p.part))))


def duplicate_id(pattern: Pattern, first: Pattern) -> RuleError:
    """The error that two patterns have the same id."""
    return RuleError(pattern.where, f"pattern {pattern.id!r} is defined twice", f"first at {first.where}")


def checked(file: RuleFile) -> Iterator[Pattern | RuleError]:
    """Each pattern of a file with its regexes compiled, or the error in it. Raises RuleError where the file has no
    list.
    """
    for i in range(_count_patterns(file)):
        try:
            pattern = _read_pattern(file, i)
            for key in {"signal", "cut_label", "says", "alone"} & file.data["patterns"][i].keys():
                raise RuleError(file.where("patterns", i, key), f"{key} is for built-in patterns only", "leave it out")
            for key in ("regex", "not"):
                check_regex(file.where("patterns", i, key), file.data["patterns"][i].get(key, ""))
            yield pattern
        except RuleError as error:
            yield error


def match(text: pl.Series, patterns: Sequence[Pattern], also: Also = _NO_MORE) -> pl.DataFrame:
    """The pattern that claims each line of `text` (String): row (UInt32, position), pattern (its id), captures (JSON
    object of the regex's named groups that took part). Rows are in order, at most one a line.

    With the texts `also` of an earlier call of `candidates`, its compiled search is used again.
    """
    ends = text.str.len_bytes().cast(pl.Int64).cum_sum() + pl.int_range(len(text), eager=True)
    rows, literals = candidates("\n".join(text.to_list()).encode(), ends.to_numpy(), patterns, also)
    hit, at = np.unique(rows[literals >= 0], return_inverse=True)
    found = claims(text.gather(hit), at, literals[literals >= 0], patterns)
    return found.with_columns(pl.Series("row", hit, pl.UInt32).gather(found["row"]))


def candidates(data: bytes, ends: Rows, patterns: Sequence[Pattern], also: Also = _NO_MORE) -> tuple[Rows, Rows]:
    """The lines and the literals of patterns that occur in them: the fast first look.

    A line is a position; `ends` are the places of the LF behind each line in `data` (UTF-8). A literal is its number.
    Each pair occurs at least once. The texts in `also` are searched for as well; their numbers are -1, -2 and so on.
    """
    literals = list(_patterns_of(tuple(patterns)))
    rows, numbers = find_literals(
        data, ends, [*literals, *also.each, *also.once], len(also.once), _alone(tuple(patterns))
    )
    return rows, np.where(numbers < len(literals), numbers, len(literals) - 1 - numbers)


def claims(text: pl.Series, at: Rows, literals: Rows, patterns: Sequence[Pattern]) -> pl.DataFrame:
    """As `match`, for lines in which literals were found: `literals[i]` in line `at[i]` of `text`."""
    patterns_of = list(_patterns_of(tuple(patterns)).values())
    lines: dict[int, list[Rows]] = {}
    for literal, positions in positions_by_number(literals):
        for number in patterns_of[literal]:
            lines.setdefault(number, []).append(at[positions])
    free = ~is_quoted_code(text).to_numpy()
    found = []
    for number in sorted(lines):
        rows = np.unique(np.concatenate(lines[number]))
        rows = rows[free[rows]]
        if len(rows) and (hits := _hits(text, rows, patterns[number])).height:
            free[hits["row"].to_numpy()] = False
            found.append(hits)
    if not found:
        return pl.DataFrame(schema=HITS)
    return pl.concat(found).sort("row") if len(found) > 1 else found[0]


def is_quoted_code(text: pl.Series) -> pl.Series:
    """Which lines are source code that a traceback quotes."""
    return text.str.contains(_QUOTED)


@cache
def _patterns_of(patterns: tuple[Pattern, ...]) -> dict[str, list[int]]:
    """The positions of the patterns that have each literal; a literal's place in the order is its number."""
    positions: dict[str, list[int]] = {}
    for number, pattern in enumerate(patterns):
        for word in dict.fromkeys(pattern.literals):
            positions.setdefault(word, []).append(number)
    return positions


@cache
def _alone(patterns: tuple[Pattern, ...]) -> frozenset[str]:
    """The literals that only patterns with `alone` have."""
    found = {alone: {word for p in patterns if p.alone is alone for word in p.literals} for alone in (True, False)}
    return frozenset(found[True] - found[False])


def _hits(text: pl.Series, rows: Rows, pattern: Pattern) -> pl.DataFrame:
    """The rows (positions in `text`; each contains a literal) that the pattern's regexes accept."""
    lines = text.gather(rows)
    accepted = lines.str.contains(pattern.regex)
    if pattern.exclude:
        accepted &= ~lines.str.contains(pattern.exclude)
    row = pl.Series("row", rows.astype(np.uint32)).filter(accepted)
    if "(?P<" in pattern.regex:
        captures = lines.filter(accepted).str.extract_groups(pattern.regex).struct.json_encode()
    else:
        captures = constant("{}", len(row), pl.String)
    return pl.DataFrame([row, constant(pattern.id, len(row), pl.String).alias("pattern"), captures.alias("captures")])


def _count_patterns(file: RuleFile) -> int:
    """The number of patterns in a file of patterns."""
    return len(typed(file, _File).patterns)


def _read_pattern(file: RuleFile, i: int) -> Pattern:
    """The checked pattern number `i` of a file."""
    at = ("patterns", i)
    if not isinstance(file.get(at), dict) or not file.get(at).get("literals"):  # quotes nothing of the file
        raise RuleError(file.where(*at, "literals"), "no literals", "a list of texts, one of which is in every match")
    entry = typed(file, PatternEntry, at)
    for key, value, known in (
        ("part", entry.part, PARTS),
        ("label", entry.label, LOG_LABELS),
        ("signal", entry.signal, SIGNALS),
        ("cut_label", entry.cut_label, LOG_LABELS),
    ):
        if value is not None and value not in known:
            refuse_name(file, (*at, key), value, known)
    check_names(file, (*at, "says"), entry.says, TRAITS)
    return Pattern(
        entry.id, entry.label, cast("Part", entry.part), entry.literals, entry.regex, entry.exclude,
        entry.generic, entry.tests.match, entry.tests.no_match, file.place(*at, "id"), entry.alone,
    )  # fmt: skip


def check_regex(where: str, regex: str) -> None:
    """Compile it as it will be used: Rust syntax, no look-around, no back-references."""
    try:
        pl.Series([""]).str.contains(regex, strict=True)
    except pl.exceptions.ComputeError as error:
        raise RuleError(where, f"not a regex: {error}", "Rust syntax, without look-around or back-references") from None
