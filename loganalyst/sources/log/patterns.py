"""The catalogue of log-line patterns (`rules/text/*.yaml`): loaded, checked, and matched in linear time."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.errors import RuleError, nearest
from loganalyst.model import constant
from loganalyst.rulefiles import RuleFile, load_all, rules_dir

Part = Literal["aside", "root", "stop", "peer", "cascade", "confirm", "symptom", "advice", "end", "start"]
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
REQUIRED = ("id", "label", "part", "literals", "regex", "tests")
OPTIONAL = ("not", "generic")
# On every line of Megatron: in these texts these literals tell nothing, and are passed over.
_ASIDE = {
    "nan": "number of nan iterations",
    "number of skipped iterations:": "number of skipped iterations:   0 ",
}
_WORD = 3  # letters of a literal's last word that are looked for
HITS = pl.Schema({"row": pl.UInt32, "pattern": pl.String, "captures": pl.String})


Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Pattern:
    """One kind of line. `regex` is matched on the text after rank and node prefixes; one of `literals` must be in it.

    `label` is a common label or None, `generic` patterns claim only lines that no other one claims.
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


@cache
def catalogue(folder: Path | None = None) -> tuple[Pattern, ...]:
    """All patterns of a folder (default: the package's), in the order in which they claim a line. Raises RuleError."""
    found = [pattern for file in load_all(folder or rules_dir() / "text") for pattern in _patterns(file)]
    seen: dict[str, str] = {}
    for pattern in found:
        if pattern.id in seen:
            raise RuleError(pattern.where, f"pattern {pattern.id!r} stands twice", f"first at {seen[pattern.id]}")
        seen[pattern.id] = pattern.where
    return tuple(sorted(found, key=lambda p: (p.generic, PARTS.index(p.part))))


def match(text: pl.Series, patterns: Sequence[Pattern]) -> pl.DataFrame:
    """The pattern that claims each line of `text` (String): row (UInt32, position), pattern (its id), captures (JSON
    object of the regex's named groups that took part). Rows in order, at most one a line.
    """
    ends = text.str.len_bytes().cast(pl.Int64).cum_sum() + pl.int_range(len(text), eager=True)
    rows, literals = candidates("\n".join(text.to_list()).encode(), ends.to_numpy(), patterns)
    hit, at = np.unique(rows, return_inverse=True)
    found = claims(text.gather(hit), at, literals, patterns)
    return found.with_columns(pl.Series("row", hit, pl.UInt32).gather(found["row"]))


def candidates(data: bytes, ends: Rows, patterns: Sequence[Pattern], also: tuple[str, ...] = ()) -> tuple[Rows, Rows]:
    """Where a literal of any pattern stands: the line (position; `ends` are the places of the LF after each in `data`,
    UTF-8) and the literal (its number), each pair at least once. The fast first look. The texts in `also` are looked
    for as well: their numbers are -1, -2 and so on.
    """
    literals = [*_literals(patterns), *also]
    rows, numbers = _found(data, ends, literals)
    return rows, np.where(numbers < len(literals) - len(also), numbers, len(literals) - len(also) - 1 - numbers)


def _found(data: bytes, ends: Rows, literals: list[str]) -> tuple[Rows, Rows]:
    scanner = _scanner(tuple(literals))
    if scanner is None:
        return _searched(data, literals)
    database, clues = scanner
    seen = array("q")

    def note(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
        seen.append(number)
        seen.append(end)

    database.scan(data, match_event_handler=note)
    numbers, places = np.frombuffer(seen, np.int64).reshape(-1, 2).T
    kept = np.ones(len(numbers), bool)
    for number, at in _groups(numbers):
        rest, aside, before = clues[number]
        if aside:
            kept[at] = ~_stands(data, places[at] - before, aside)
        if rest:
            kept[at] &= _stands(data, places[at], rest)
    return np.searchsorted(ends, places[kept]), numbers[kept]


def _stands(data: bytes, at: Rows, text: bytes) -> NDArray[np.bool_]:
    """Whether `text` stands at each of the places (one may be before the begin of `data`)."""
    last = len(data) - len(text)
    if last < 0:
        return np.zeros(len(at), bool)
    windows = np.ndarray(last + 1, f"S{len(text)}", data, strides=1)
    same: NDArray[np.bool_] = windows[at.clip(0, last)] == text
    return same & (at >= 0) & (at <= last)


def _groups(numbers: Rows) -> Iterator[tuple[int, Rows]]:
    """Each number that is there, and its positions."""
    order = np.argsort(numbers, kind="stable")
    bounds = np.flatnonzero(np.diff(numbers[order], prepend=-1, append=-1))
    for first, last in pairwise(bounds.tolist()):
        yield int(numbers[order[first]]), order[first:last]


def claims(text: pl.Series, at: Rows, literals: Rows, patterns: Sequence[Pattern]) -> pl.DataFrame:
    """As `match`, for lines in which literals were found: `literals[i]` in line `at[i]` of `text`."""
    of = list(_patterns_of(tuple(p.literals for p in patterns)).values())
    lines: dict[int, list[Rows]] = {}
    for literal, positions in _groups(literals):
        for number in of[literal]:
            lines.setdefault(number, []).append(at[positions])
    free = np.ones(len(text), bool)
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


def _searched(data: bytes, literals: list[str]) -> tuple[Rows, Rows]:
    """The same without hyperscan."""
    lines = pl.Series("text", [data.decode()]).str.split("\n").explode()
    said = pl.DataFrame({"text": lines}).with_row_index("row").filter(pl.col("text").str.contains_any(literals))
    words = pl.col("text").str.extract_many(literals, overlapping=True).list.unique()
    said = said.with_columns(word=words).explode("word")
    for word, aside in _ASIDE.items():
        often, passed = (pl.col("text").str.count_matches(text, literal=True) for text in (word, aside))
        said = said.filter((pl.col("word") != word) | (often > passed))
    number = {word: number for number, word in enumerate(literals)}
    return said["row"].cast(pl.Int64).to_numpy(), said["word"].replace_strict(number, return_dtype=pl.Int64).to_numpy()


def _literals(patterns: Iterable[Pattern]) -> list[str]:
    return list(_patterns_of(tuple(p.literals for p in patterns)))


@cache
def _patterns_of(literals: tuple[tuple[str, ...], ...]) -> dict[str, list[int]]:
    """The patterns (positions) that have each literal; the literals in their order are their numbers."""
    of: dict[str, list[int]] = {}
    for number, words in enumerate(literals):
        for word in dict.fromkeys(words):
            of.setdefault(word, []).append(number)
    return of


Clue = tuple[bytes, bytes, int]


@cache
def _scanner(literals: tuple[str, ...]) -> tuple[Any, list[Clue]] | None:
    """The hyperscan database of the heads of all literals, and for each its rest, the text in which it is passed over
    and how far before the head's end that text begins. None where hyperscan is not there (polars serves, slower).
    """
    try:
        import hyperscan
    except ImportError:
        return None
    heads = [_head(literal) for literal in literals]
    database = hyperscan.Database()
    words = [head.encode() for head in heads]
    database.compile(expressions=words, ids=list(range(len(words))), flags=[0] * len(words), literal=True)
    return database, [_clue(*both) for both in zip(literals, heads, strict=True)]


def _head(literal: str) -> str:
    """What of a literal is looked for first: all but the end of its last word.

    Hyperscan knows a literal by its last eight bytes: a whole word there ("... in checkpoint") stands on many healthy
    lines, and each costs a second look; the end of one word and the begin of the next stand on few.
    """
    end = literal.rfind(" ", 0, -_WORD - 1) + 1 + _WORD
    return literal[:end] if end >= 8 else literal


def _clue(literal: str, head: str) -> Clue:
    aside = _ASIDE.get(literal, "")
    return literal.removeprefix(head).encode(), aside.encode(), aside.find(head) + len(head)


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


def _patterns(file: RuleFile) -> list[Pattern]:
    file.check_keys((), ("family", "patterns"))
    return [_pattern(file, i) for i in range(len(file.data["patterns"]))]


def _pattern(file: RuleFile, i: int) -> Pattern:
    at = ("patterns", i)
    file.check_keys(at, REQUIRED, OPTIONAL)
    file.check_keys((*at, "tests"), ("match", "no_match"))
    node = file.get(at)
    where = file.where(*at, "id")
    _one_of(file.where(*at, "part"), "part", node["part"], get_args(Part))
    if node["label"] is not None:
        _one_of(file.where(*at, "label"), "label", node["label"], LABELS)
    for key in ("regex", "not"):
        if key in node:
            _check_regex(file.where(*at, key), node[key])
    if not node["literals"] or not all(
        isinstance(word, str) and word and "\n" not in word for word in node["literals"]
    ):
        raise RuleError(file.where(*at, "literals"), "no literals", "a list of texts, one of which is in every match")
    return Pattern(
        node["id"], node["label"], node["part"], tuple(node["literals"]), node["regex"], node.get("not"),
        bool(node.get("generic")), tuple(node["tests"]["match"]), tuple(node["tests"]["no_match"]), where,
    )  # fmt: skip


def _one_of(where: str, what: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        hint = nearest(str(value), allowed) or f"allowed are {', '.join(allowed)}"
        raise RuleError(where, f"unknown {what} {value!r}", hint)


def _check_regex(where: str, regex: object) -> None:
    """Compile it the way it will be used: Rust syntax, no look-around, no back-references."""
    try:
        pl.Series([""]).str.contains(str(regex), strict=True)
    except pl.exceptions.ComputeError as error:
        raise RuleError(where, f"not a regex: {error}", "Rust syntax, without look-around or back-references") from None
