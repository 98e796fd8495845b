"""The catalogue of log-line patterns (`rules/text/*.yaml`): loaded, checked, and matched in linear time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast, get_args

import numpy as np
import polars as pl

from loganalyst.errors import RuleError
from loganalyst.model import constant
from loganalyst.patterntraits import SIGNALS, TRAITS, PatternEntry
from loganalyst.rulefiles import RuleFile, Shape, Text, check_names, refuse_name, text_files, typed
from loganalyst.sources.text.patterns.literals import Rows, found, groups

Part = Literal["aside", "root", "stop", "peer", "cascade", "confirm", "symptom", "advice", "end", "start", "work"]
# The order in which patterns claim a line that several match; within a part the catalogue's order (file, position).
PARTS: tuple[Part, ...] = get_args(Part)
LABELS = (
    "nan_loss",
    "divergence",
    "loss_spikes",
    "exploding_gradients",
    "loss_scaling",
    "numeric_overflow",
    "log_of_zero",
    "bad_data",
    "throughput_drop",
    "straggler",
    "memory_growth",
    "hang",
    "dead_run",
    "code_exception",
    "shape_mismatch",
    "device_assert",
    "cuda_error",
    "cuda_oom",
    "host_oom",
    "gpu_hardware",
    "nccl_timeout",
    "nccl_error",
    "network",
    "node_failure",
    "slurm_timeout",
    "slurm_cancelled",
    "slurm_preempted",
    "user_interrupt",
    "disk_full",
    "filesystem",
    "port_in_use",
    "import_error",
    "config_error",
    "checkpoint_missing",
    "checkpoint_mismatch",
    "dataloader_worker",
    "shm",
    "segfault",
    "other",
)
# a line of source code that a traceback quotes, plain or in a box: what it would raise is not what was raised
_QUOTED = r"^\s*[│|]\s*(?:❱\s*)?\d+\s*[│|]|^\s+(?:raise|assert)\s"
HITS = pl.Schema({"row": pl.UInt32, "pattern": pl.String, "captures": pl.String})


@dataclass(frozen=True, eq=False)
class Pattern:
    """One kind of line. `regex` is matched on the text after rank and node prefixes; one of `literals` must be in it.

    `label` is a common label or None, `generic` patterns claim only lines that no other one claims. Like nothing but
    itself: hundreds are looked up at once, batch by batch.
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
    where: str


class _File(Shape, frozen=True):
    family: Text
    patterns: list[Any]


@cache
def catalogue() -> tuple[Pattern, ...]:
    """Our patterns, in the order in which they claim a line. Raises RuleError.

    Their regexes are compiled when a line asks for them: that they can be is for the tests to say, not for every start.
    """
    found: list[Pattern] = []
    seen: dict[str, str] = {}
    for file in text_files():
        found += [_pattern(file, i) for i in range(_count(file))]
    for pattern in found:
        if pattern.id in seen:
            raise twice(pattern, seen[pattern.id])
        seen[pattern.id] = pattern.where
    return ordered(found)


def ordered(found: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """In the order in which they claim a line; where that leaves it open, as they are given."""
    return tuple(sorted(found, key=lambda p: (p.generic, PARTS.index(p.part))))


def twice(pattern: Pattern, first: str) -> RuleError:
    """Two patterns have the same id."""
    return RuleError(pattern.where, f"pattern {pattern.id!r} stands twice", f"first at {first}")


def checked(file: RuleFile) -> Iterator[Pattern | RuleError]:
    """Each pattern of a file, its regexes compiled, or what is wrong with it. Raises RuleError where it has no list."""
    for i in range(_count(file)):
        try:
            pattern = _pattern(file, i)
            for key in {"signal", "says"} & file.data["patterns"][i].keys():
                raise RuleError(file.where("patterns", i, key), f"{key} is of our own patterns only", "leave it out")
            for key in ("regex", "not"):
                _check_regex(file.where("patterns", i, key), file.data["patterns"][i].get(key, ""))
            yield pattern
        except RuleError as error:
            yield error


def match(text: pl.Series, patterns: Sequence[Pattern], also: tuple[str, ...] = ()) -> pl.DataFrame:
    """The pattern that claims each line of `text` (String): row (UInt32, position), pattern (its id), captures (JSON
    object of the regex's named groups that took part). Rows in order, at most one a line. With the texts `also` of an
    earlier look (`candidates`) what it looked with serves again.
    """
    ends = text.str.len_bytes().cast(pl.Int64).cum_sum() + pl.int_range(len(text), eager=True)
    rows, literals = candidates("\n".join(text.to_list()).encode(), ends.to_numpy(), patterns, also)
    hit, at = np.unique(rows[literals >= 0], return_inverse=True)
    found = claims(text.gather(hit), at, literals[literals >= 0], patterns)
    return found.with_columns(pl.Series("row", hit, pl.UInt32).gather(found["row"]))


def candidates(data: bytes, ends: Rows, patterns: Sequence[Pattern], also: tuple[str, ...] = ()) -> tuple[Rows, Rows]:
    """Where a literal of any pattern stands: the line (position; `ends` are the places of the LF after each in `data`,
    UTF-8) and the literal (its number), each pair at least once. The fast first look. The texts in `also` are looked
    for as well: their numbers are -1, -2 and so on.
    """
    literals = [*_patterns_of(tuple(patterns)), *also]
    rows, numbers = found(data, ends, literals)
    return rows, np.where(numbers < len(literals) - len(also), numbers, len(literals) - len(also) - 1 - numbers)


def claims(text: pl.Series, at: Rows, literals: Rows, patterns: Sequence[Pattern]) -> pl.DataFrame:
    """As `match`, for lines in which literals were found: `literals[i]` in line `at[i]` of `text`."""
    of = list(_patterns_of(tuple(patterns)).values())
    lines: dict[int, list[Rows]] = {}
    for literal, positions in groups(literals):
        for number in of[literal]:
            lines.setdefault(number, []).append(at[positions])
    free = ~quoted(text).to_numpy()
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


def quoted(text: pl.Series) -> pl.Series:
    """Which lines are source code that a traceback quotes."""
    return text.str.contains(_QUOTED)


@cache
def _patterns_of(patterns: tuple[Pattern, ...]) -> dict[str, list[int]]:
    """The patterns (positions) that have each literal; the literals in their order are their numbers."""
    of: dict[str, list[int]] = {}
    for number, pattern in enumerate(patterns):
        for word in dict.fromkeys(pattern.literals):
            of.setdefault(word, []).append(number)
    return of


def _hits(text: pl.Series, rows: Rows, pattern: Pattern) -> pl.DataFrame:
    """The rows (positions in `text`; a literal is in each) that the pattern's regexes accept."""
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


def _count(file: RuleFile) -> int:
    """The number of patterns in a file of patterns."""
    return len(typed(file, _File).patterns)


def _pattern(file: RuleFile, i: int) -> Pattern:
    at = ("patterns", i)
    if not isinstance(file.get(at), dict) or not file.get(at).get("literals"):  # quotes nothing of the file
        raise RuleError(file.where(*at, "literals"), "no literals", "a list of texts, one of which is in every match")
    entry = typed(file, PatternEntry, at)
    for key, value, known in (
        ("part", entry.part, PARTS),
        ("label", entry.label, LABELS),
        ("signal", entry.signal, SIGNALS),
    ):
        if value is not None and value not in known:
            refuse_name(file, (*at, key), value, known)
    check_names(file, (*at, "says"), entry.says, TRAITS)
    return Pattern(
        entry.id, entry.label, cast("Part", entry.part), entry.literals, entry.regex, entry.exclude,
        entry.generic, entry.tests.match, entry.tests.no_match, file.where(*at, "id"),
    )  # fmt: skip


def _check_regex(where: str, regex: str) -> None:
    """Compile it the way it will be used: Rust syntax, no look-around, no back-references."""
    try:
        pl.Series([""]).str.contains(regex, strict=True)
    except pl.exceptions.ComputeError as error:
        raise RuleError(where, f"not a regex: {error}", "Rust syntax, without look-around or back-references") from None
