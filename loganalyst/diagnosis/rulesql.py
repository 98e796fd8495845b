"""The restricted SQL of rules: a typed parser in front of `polars.sql_expr`.

Only constructs that keep "not known" unknown are allowed. The checked expression is rewritten with all parentheses, so
that our precedence and polars' cannot differ. Connectives follow Kleene's strong three-valued logic: a part that
becomes known can settle an answer, but never reverse it.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import polars as pl
from polars.exceptions import PolarsError

from loganalyst.diagnosis import questionparser
from loganalyst.diagnosis.questiontokens import ALLOWED, tokens
from loganalyst.errors import RuleError
from loganalyst.model import Feature

MAX_LENGTH = 1000  # characters; the time of polars' planner grows much faster than the number of ANDs
_DTYPES: dict[str, pl.DataType] = {"float": pl.Float64(), "int": pl.Int64(), "bool": pl.Boolean(), "text": pl.String()}


@dataclass(frozen=True)
class Ask:
    """A question: its text, its features in order of mention, its SQL, the place of the text (file:line), and its parts
    as JSON: few questions are asked in a process that reads all.
    """

    text: str
    features: tuple[str, ...]
    sql: str = field(compare=False, repr=False)
    where: str = field(compare=False, repr=False)
    parts_json: str = field(compare=False, repr=False)

    @cached_property
    def parts(self) -> list[Any]:
        """The parts, as `rowanswers` asks them."""
        found: list[Any] = msgspec.json.decode(self.parts_json)
        return found

    @cached_property
    def expr(self) -> pl.Expr:
        """The polars expression: Boolean, named by the text."""
        return pl.sql_expr(self.sql).alias(self.text)


def schema(declared: Mapping[str, Feature]) -> pl.Schema:
    """The column types of the feature table: float Float64, int Int64, bool Boolean, text String."""
    return pl.Schema({name: _DTYPES[feature.dtype] for name, feature in declared.items()})


def ask(text: str, declared: Mapping[str, Feature], where: str = "ask") -> Ask:
    """Check one question. RuleError names `where`, what was found, what is allowed and the nearest feature."""
    found = parsed(text, declared, where)
    for fault in faults([found], declared).values():
        raise fault
    return found


def parsed(text: str, declared: Mapping[str, Feature], where: str) -> Ask:
    """As `ask`, without the check by polars, which is faster for many questions at once (`faults`)."""
    if len(text) > MAX_LENGTH:
        raise RuleError(where, f"question of {len(text)} characters", f"at most {MAX_LENGTH} are allowed")
    node, features = questionparser.read(list(tokens(text, where)), declared, where)
    _count_before_step(features, declared, where)
    if not features:
        raise RuleError(where, "no feature is asked for", ALLOWED)
    return Ask(text, features, node.sql, where, msgspec.json.encode(node.parts).decode())


def _count_before_step(features: tuple[str, ...], declared: Mapping[str, Feature], where: str) -> None:
    """`<event>_step` is NULL if nothing happened, so a question about it must ask `<event>_count` first."""
    for i, name in enumerate(features):
        count = name.removesuffix("_step") + "_count"
        if name.endswith("_step") and count in declared and count not in features[:i]:
            raise RuleError(where, f"{name} without {count}", f"start the question with {count} > 0 AND …")


def faults(asks: Iterable[Ask], declared: Mapping[str, Feature]) -> dict[str, RuleError]:
    """Questions that polars does not read as a Boolean expression of the same features, by the question's place."""
    asks = list(asks)
    with suppress(PolarsError):
        if not _misread({ask.text: ask for ask in asks}.values(), declared):
            return {}
    return {ask.where: fault for ask in asks if (fault := _fault(ask, declared))}


def _misread(asks: Collection[Ask], declared: Mapping[str, Feature]) -> str:
    """How polars reads the first question that it reads differently. Raises PolarsError if it cannot read one."""
    asked = {name: declared[name] for ask in asks for name in ask.features}
    dtypes = pl.DataFrame(schema=schema(asked)).select(ask.expr for ask in asks).dtypes
    for ask, dtype in zip(asks, dtypes, strict=True):
        if dtype != pl.Boolean or set(ask.expr.meta.root_names()) != set(ask.features):
            return f"{ask.expr} ({dtype})"
    return ""


def _fault(ask: Ask, declared: Mapping[str, Feature]) -> RuleError | None:
    try:
        found = _misread([ask], declared)
    except PolarsError as error:
        lines = str(error).splitlines()
        why = next((line for line in lines if line.startswith("error:")), lines[0])  # a regex error's reason comes last
        return RuleError(ask.where, f"not valid ({why})", ALLOWED)
    return RuleError(ask.where, f"is read by polars as {found}", ALLOWED) if found else None
