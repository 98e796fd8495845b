"""Arguments a program printed at its start: `Namespace(...)` and the environment of a SLURM job."""

import ast

import polars as pl

from loganalyst.model import table
from loganalyst.sources.log.lines import described

CALL, ENVIRONMENT = "Namespace(", "SLURM_"
LONGEST = 20_000  # characters of a Namespace that are looked at
_ENVIRONMENT = r"^(?:export |declare -x )?(SLURM_[A-Z_]+)=[\"']?([^\"'\n]*)"


def arguments(text: pl.Series, origin: str) -> pl.DataFrame:
    """The `config` rows found in the lines `text` (String), those in which CALL or ENVIRONMENT stands."""
    if not len(text):
        return table("config")
    keys, values = [], []
    text = described(text)["body"]
    for call in text.filter(text.str.contains(CALL, literal=True)).head(20):
        for key, value in _keywords(call[call.index(CALL) :][:LONGEST]):
            keys.append(key)
            values.append(value)
    slurm = text.filter(text.str.starts_with(ENVIRONMENT) | text.str.contains(f"x {ENVIRONMENT}", literal=True))
    groups = slurm.str.extract_groups(_ENVIRONMENT).struct.unnest().drop_nulls().unique("1", maintain_order=True)
    keys += groups["1"].to_list()
    values += groups["2"].to_list()
    number = pl.Series(values, dtype=pl.String).cast(pl.Float64, strict=False)
    return table("config", {"key": keys, "value": values, "number": number, "origin": origin})


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
