"""Arguments a program printed at its start: `Namespace(...)` and the environment of a SLURM job."""

import ast

import numpy as np
import polars as pl

from loganalyst.model import table
from loganalyst.sources.textlines import Chunk, described

LONGEST = 20_000  # characters of a Namespace that are looked at
_ENVIRONMENT = r"^(?:export |declare -x )?(SLURM_[A-Z_]+)=[\"']?([^\"'\n]*)"


def arguments(chunk: Chunk, origin: str) -> pl.DataFrame:
    """The `config` rows found in the lines of a batch."""
    text = _lines_with(chunk, (b"Namespace(", b"SLURM_"))
    if not len(text):
        return table("config")
    keys, values = [], []
    text = described(text)["body"]
    for call in text.filter(text.str.contains("Namespace(", literal=True)).head(20):
        for key, value in _keywords(call[call.index("Namespace(") :][:LONGEST]):
            keys.append(key)
            values.append(value)
    slurm = text.filter(text.str.starts_with("SLURM_") | text.str.contains("x SLURM_", literal=True))
    groups = slurm.str.extract_groups(_ENVIRONMENT).struct.unnest().drop_nulls().unique("1", maintain_order=True)
    keys += groups["1"].to_list()
    values += groups["2"].to_list()
    number = pl.Series(values, dtype=pl.String).cast(pl.Float64, strict=False)
    return table("config", {"key": keys, "value": values, "number": number, "origin": origin})


def _lines_with(chunk: Chunk, words: tuple[bytes, ...]) -> pl.Series:
    """The lines of a batch in which one of the words stands."""
    rows: set[int] = set()
    for word in words:
        at = chunk.data.find(word)
        while at >= 0:
            row = int(np.searchsorted(chunk.starts, at, side="right")) - 1
            rows.add(row)
            at = chunk.data.find(word, int(chunk.starts[row + 1]))
    return chunk.some(np.array(sorted(rows), np.int64))


def _keywords(call: str) -> list[tuple[str, str]]:
    """Names and values (strings bare, the rest as written) of a call's keyword arguments; [] where it is cut off."""
    try:
        node = ast.parse(call[: call.rindex(")") + 1], mode="eval").body
        words = node.keywords if isinstance(node, ast.Call) else []
        return [(word.arg, _written(word.value)) for word in words if word.arg]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _written(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
