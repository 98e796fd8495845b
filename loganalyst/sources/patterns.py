"""The catalogue of log-line patterns (`rules/text/*.yaml`): loaded, checked, and matched in linear time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from loganalyst.errors import RuleError, nearest
from loganalyst.rulefiles import RuleFile, load_all, rules_dir

Part = Literal["root", "stop", "cascade", "confirm", "symptom", "advice", "end", "start"]
# The order in which patterns claim a line that several match; within a part the catalogue's order (file, position).
PARTS: tuple[Part, ...] = ("root", "stop", "cascade", "confirm", "symptom", "advice", "end", "start")
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
MOST_LITERALS = 200  # of one hyperscan database: compiling the whole catalogue at once takes six times the memory
HITS = pl.Schema({"row": pl.UInt32, "pattern": pl.String, "captures": pl.String})


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
    rows = pl.DataFrame({"row": candidates(text, patterns)}, schema={"row": pl.UInt32})
    rows = rows.with_columns(text=text.gather(rows["row"]))
    words = pl.col("text").str.extract_many(_literals(patterns), overlapping=True)
    said = rows.select("row", word=words).explode("word").unique()
    known = set(said["word"].unique())
    found = [
        _hits(
            rows.filter(pl.col("row").is_in(said.filter(pl.col("word").is_in(p.literals))["row"].implode())), order, p
        )
        for order, p in enumerate(patterns)
        if not known.isdisjoint(p.literals)
    ]
    hits = pl.concat(found) if found else pl.DataFrame(schema={**HITS, "order": pl.Int32})
    return hits.sort("row", "order").unique("row", keep="first", maintain_order=True).select(HITS.names())


def candidates(text: pl.Series, patterns: Iterable[Pattern]) -> pl.Series:
    """Positions (UInt32, ascending) of the lines that hold a literal of any pattern: the fast first look."""
    literals = _literals(patterns)
    scanners = _scanners(tuple(literals))
    if scanners is None:
        return text.str.contains_any(literals).arg_true()
    data = "\n".join(text.to_list()).encode()
    ends: list[int] = []
    for scanner in scanners:
        scanner.scan(data, match_event_handler=lambda _id, _start, end, _flags, _context: ends.append(end))
    bounds = text.str.len_bytes().cast(pl.Int64).cum_sum() + pl.int_range(len(text), eager=True)
    return bounds.search_sorted(pl.Series(ends, dtype=pl.Int64), side="left").unique().sort().cast(pl.UInt32)


def _literals(patterns: Iterable[Pattern]) -> list[str]:
    return list(dict.fromkeys(literal for p in patterns for literal in p.literals))


@cache
def _scanners(literals: tuple[str, ...]) -> list[Any] | None:
    """Hyperscan databases of the literals, or None where hyperscan is not there (polars serves, slower)."""
    try:
        import hyperscan
    except ImportError:
        return None
    expressions = ["".join(f"\\x{byte:02x}" for byte in literal.encode()).encode() for literal in literals]
    parts = [expressions[at : at + MOST_LITERALS] for at in range(0, len(expressions), MOST_LITERALS)]
    databases = [hyperscan.Database() for _ in parts]
    for database, part in zip(databases, parts, strict=True):
        database.compile(expressions=part, ids=list(range(len(part))), flags=[0] * len(part))
    return databases


def _hits(rows: pl.DataFrame, order: int, pattern: Pattern) -> pl.DataFrame:
    """The rows (row, text; a literal is in each) that the pattern's regexes accept."""
    text = pl.col("text")
    rows = rows.filter(text.str.contains(pattern.regex))
    if pattern.exclude:
        rows = rows.filter(~text.str.contains(pattern.exclude))
    groups = text.str.extract_groups(pattern.regex).struct.json_encode()
    return rows.select("row", pattern=pl.lit(pattern.id), captures=groups, order=pl.lit(order, pl.Int32))


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
