"""The restricted SQL of rules: a tokenizer and a typed parser in front of `polars.sql_expr`.

Only constructs that keep "not known" unknown are allowed. The checked expression is rewritten with all parentheses, so
that our precedence and polars' cannot differ. Connectives follow Kleene's strong three-valued logic: a part that
becomes known can settle an answer, but never reverse it.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, NoReturn

import msgspec
import polars as pl
from polars.exceptions import PolarsError

from loganalyst.errors import RuleError, nearest
from loganalyst.model import Feature

ALLOWED = (
    "allowed are feature names, numbers, 'text', = <> != < <= > >=, BETWEEN, IN, LIKE, ~, AND, OR, NOT, + - *, ABS "
    "and parentheses"
)
MAX_LENGTH = 1000  # characters; the time of polars' planner grows much faster than the number of ANDs
MAX_DEPTH = 12  # nested parentheses, NOT, ABS and minus signs; polars' parser takes exponential time beyond about forty

_KEYWORDS = frozenset({"AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ABS"})
_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})
_DTYPES: dict[str, pl.DataType] = {"float": pl.Float64(), "int": pl.Int64(), "bool": pl.Boolean(), "text": pl.String()}
_KINDS: dict[str, "Type"] = {"float": "number", "int": "number", "bool": "yes/no", "text": "text"}
# Tokens in order of precedence: 12, 1.5e-3 | train_loss_points | 'text' with '' inside | refused operators | signs
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z_.0-9]))"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<text>'(?:[^'\x00]|'')*')"
    r"|(?P<refused>--|<=>|==|!~|\|\||~\*)"
    r"|(?P<sign><=|>=|<>|!=|[-+*=<>~(),])"
)
_INSTEAD = {
    "--": "comments are not allowed",
    "<=>": "it turns 'not known' into an answer",
    "==": "equality is written =",
    "!~": "write NOT name ~ 'pattern'",
    "/": "division belongs into a feature",
    '"': "text needs single quotes, names need none",
}

Type = Literal["number", "text", "yes/no"]


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


class _Token(NamedTuple):
    kind: str
    text: str


class _Node(NamedTuple):
    """A parsed part: its type, its rewritten SQL, its parts (`rowanswers`), whether it computes (and may become NaN),
    and whether it is a feature of whole numbers.
    """

    type: Type
    sql: str
    parts: list[Any]
    computes: bool = False
    whole: bool = False


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
    parser = _Parser(list(_tokens(text, where)), declared, where)
    node = parser.parse()
    features = tuple(dict.fromkeys(parser.features))
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


def _tokens(text: str, where: str) -> Iterator[_Token]:
    """The allowed tokens of `text`; RuleError at the first other character."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup == "refused":
            found = match.group() if match else text[at]
            raise RuleError(where, f"found {found!r}", "; ".join(filter(None, (_INSTEAD.get(found), ALLOWED))))
        kind = match.lastgroup or ""
        if kind == "name" and match.group().upper() in _KEYWORDS:
            yield _Token("keyword", match.group().upper())
        elif kind != "space":
            yield _Token(kind, match.group())
        at = match.end()


class _Parser:
    """Recursive descent: or > and > not > comparison > sum > product > sign > atom."""

    def __init__(self, tokens: list[_Token], declared: Mapping[str, Feature], where: str) -> None:
        self.tokens, self.declared, self.where = tokens, declared, where
        self.at, self.depth = 0, 0
        self.features: list[str] = []

    def parse(self) -> _Node:
        node = self.either()
        if self.next.kind != "end":
            chained = self.next.text in _COMPARISONS
            self.refuse(f"found {self.next.text!r} after a complete part", "a comparison cannot be chained" * chained)
        return self.boolean(node)

    @property
    def next(self) -> _Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _Token("end", "the end")

    def accept(self, *texts: str) -> str | None:
        """Take the next token if it is one of these signs or keywords."""
        token = self.next
        if token.kind in ("sign", "keyword") and token.text in texts:
            self.at += 1
            return token.text
        return None

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.refuse(f"found {self.next.text!r}", f"{text} is needed here")

    def refuse(self, what: str, allowed: str = "") -> NoReturn:
        raise RuleError(self.where, what, allowed or ALLOWED)

    def boolean(self, node: _Node) -> _Node:
        return self.typed(node, "yes/no")

    def typed(self, node: _Node, wanted: Type) -> _Node:
        if node.type != wanted:
            self.refuse(f"found a {node.type} value", f"a {wanted} value is needed here")
        return node

    def either(self) -> _Node:
        return self.joined("OR", self.both)

    def both(self) -> _Node:
        return self.joined("AND", self.negated)

    def joined(self, word: str, part: Callable[[], _Node]) -> _Node:
        parts = [part()]
        while self.accept(word):
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        sql = "(" + f" {word} ".join(self.boolean(p).sql for p in parts) + ")"
        return _Node("yes/no", sql, [word, *(p.parts for p in parts)])

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"more than {MAX_DEPTH} levels of nesting", "split the question into several items")

    def negated(self) -> _Node:
        if not self.accept("NOT"):
            return self.compared()
        self.deeper()
        node = self.boolean(self.negated())
        self.depth -= 1
        return _not(node)

    def compared(self) -> _Node:
        left = self.sum()
        if sign := self.accept(*_COMPARISONS):
            return self.comparison(left, sign, self.sum())
        if self.accept("~"):
            return self.matched(left, "~")
        negative = bool(self.accept("NOT"))
        word = self.accept("BETWEEN", "IN", "LIKE")
        if negative and not word:
            self.refuse(f"found NOT before {self.next.text!r}", "BETWEEN, IN or LIKE is needed here")
        if not word:
            return left
        how: dict[str, Callable[[_Node], _Node]] = {"BETWEEN": self.between, "IN": self.among, "LIKE": self.like}
        node = how[word](left)
        return _not(node) if negative else node

    def comparison(self, left: _Node, sign: str, right: _Node) -> _Node:
        if left.type == "yes/no" or right.type == "yes/no":
            self.refuse("a yes/no value is compared", "write name or NOT name; a comparison cannot be chained")
        if left.type != right.type:
            self.refuse(f"a {left.type} value is compared with a {right.type} value")
        if left.type == "text" and sign not in ("=", "<>", "!="):
            self.refuse(f"text is compared with {sign}", "text is compared with =, <>, IN, LIKE or ~")
        return _compared(left, sign, right)

    def between(self, left: _Node) -> _Node:
        self.typed(left, "number")
        low = self.typed(self.sum(), "number")
        self.expect("AND")
        high = self.typed(self.sum(), "number")
        above, below = _compared(left, ">=", low), _compared(left, "<=", high)
        return _Node("yes/no", f"({above.sql} AND {below.sql})", ["AND", above.parts, below.parts])

    def among(self, left: _Node) -> _Node:
        self.expect("(")
        values = [self.literal()]
        while self.accept(","):
            values.append(self.literal())
        self.expect(")")
        for value in values:
            self.typed(value, left.type)
        sql = f"({_operand(left)} IN ({', '.join(v.sql for v in values)}))"
        return _Node("yes/no", sql, ["IN", _real(left) if left.whole else _value(left), [v.parts[1] for v in values]])

    def literal(self) -> _Node:
        sign = "-" if self.accept("-") else ""
        node = self.atom() if self.next.kind in ("number", "text") else None
        if node is None or (sign and node.type != "number"):
            self.refuse(f"found {self.next.text!r} in a list", "a list holds numbers or quoted text")
        return _negative(node) if sign else node

    def like(self, left: _Node) -> _Node:
        return self.matched(left, "LIKE")

    def matched(self, left: _Node, how: str) -> _Node:
        self.typed(left, "text")
        if self.next.kind != "text":
            self.refuse(f"found {self.next.text!r} after {how}", "a pattern in single quotes is needed")
        pattern = self.atom()
        return _Node("yes/no", f"({left.sql} {how} {pattern.sql})", [how, left.parts, pattern.parts[1]])

    def sum(self) -> _Node:
        return self.arithmetic(("+", "-"), self.product)

    def product(self) -> _Node:
        return self.arithmetic(("*",), self.signed)

    def arithmetic(self, signs: tuple[str, ...], part: Callable[[], _Node]) -> _Node:
        left = part()
        while sign := self.accept(*signs):
            right = self.typed(part(), "number")
            left = _computed(self.typed(left, "number"), sign, right)
        return left

    def signed(self) -> _Node:
        if not self.accept("-"):
            return self.atom()
        if self.next.kind == "number":
            return _negative(self.atom())
        self.deeper()
        node = self.typed(self.signed(), "number")
        self.depth -= 1
        return _computed(_Node("number", "0.0", ["value", 0.0]), "-", node)

    def atom(self) -> _Node:
        token = self.next
        self.at += 1
        if token.kind == "number":
            if not math.isfinite(number := float(token.text)):
                self.refuse(f"the number {token.text} is too large")
            return _Node("number", repr(number), ["value", number])
        if token.kind == "text":
            return _Node("text", token.text, ["value", token.text[1:-1].replace("''", "'")])
        if token.kind == "name":
            return self.feature(token.text)
        self.at -= 1
        return self.nested()

    def nested(self) -> _Node:
        """ABS(…) or a part in parentheses."""
        absolute = self.accept("ABS")
        self.expect_opening()
        self.deeper()
        node = self.either()
        self.depth -= 1
        self.expect(")")
        if absolute:
            sql = f"ABS({_float(self.typed(node, 'number'))})"
            return _Node("number", sql, ["ABS", _real(node)], computes=True)
        return node

    def expect_opening(self) -> None:
        if not self.accept("("):
            self.refuse(f"found {self.next.text!r}", f"a value is needed here; {ALLOWED}")

    def feature(self, name: str) -> _Node:
        feature = self.declared.get(name)
        if feature is None:
            self.refuse(f"{name!r} is no feature", nearest(name, self.declared) or ALLOWED)
        self.features.append(name)
        return _Node(_KINDS[feature.dtype], f'"{name}"', ["feature", name], whole=feature.dtype == "int")


def _float(node: _Node) -> str:
    """A number as float: arithmetic of whole numbers could overflow."""
    return f"CAST({node.sql} AS DOUBLE)" if node.whole else node.sql


def _operand(node: _Node) -> str:
    """A compared value. NaN of Inf - Inf or 0 * Inf becomes NULL; polars would order NaN above every number."""
    return f"NULLIF({node.sql}, CAST('NaN' AS DOUBLE))" if node.computes else node.sql


def _real(node: _Node) -> list[Any]:
    """The parts of a number as float."""
    return ["float", node.parts] if node.whole else node.parts


def _value(node: _Node) -> list[Any]:
    """The parts of a compared value: NaN is not known."""
    return ["known", node.parts] if node.computes else node.parts


def _not(node: _Node) -> _Node:
    return _Node("yes/no", f"(NOT {node.sql})", ["NOT", node.parts])


def _negative(number: _Node) -> _Node:
    return _Node("number", f"-{number.sql}", ["value", -number.parts[1]])


def _computed(left: _Node, sign: str, right: _Node) -> _Node:
    return _Node("number", f"({_float(left)} {sign} {_float(right)})", [sign, _real(left), _real(right)], computes=True)


def _compared(left: _Node, sign: str, right: _Node) -> _Node:
    """Whole numbers are compared as such, and with others as floats."""
    values = [_value(n) if left.whole and right.whole else _real(n) if n.whole else _value(n) for n in (left, right)]
    return _Node("yes/no", f"({_operand(left)} {sign} {_operand(right)})", [sign, *values])
