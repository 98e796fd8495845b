"""A question of a rule as a typed expression: each part with its type, its SQL and its parts."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, NoReturn

from loganalyst.diagnosis.questiontokens import ALLOWED, Token
from loganalyst.errors import RuleError, nearest
from loganalyst.model import Feature

MAX_DEPTH = 12  # nested parentheses, NOT, ABS and minus signs; polars' parser takes exponential time beyond about forty
_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})
_KINDS: dict[str, "Type"] = {"float": "number", "int": "number", "bool": "yes/no", "text": "text"}
Type = Literal["number", "text", "yes/no"]


class Node(NamedTuple):
    """A parsed part: its type, its rewritten SQL, its parts (`rowanswers`), whether it computes (and may become NaN),
    and whether it is a feature of whole numbers.
    """

    type: Type
    sql: str
    parts: list[Any]
    computes: bool = False
    whole: bool = False


def read(tokens: list[Token], declared: Mapping[str, Feature], where: str) -> tuple[Node, tuple[str, ...]]:
    """The parsed question, and its features in order of mention. RuleError names `where` and what is allowed."""
    parser = _Parser(tokens, declared, where)
    return parser.parse(), tuple(dict.fromkeys(parser.features))


class _Parser:
    """Recursive descent: or > and > not > comparison > sum > product > sign > atom."""

    def __init__(self, tokens: list[Token], declared: Mapping[str, Feature], where: str) -> None:
        self.tokens, self.declared, self.where = tokens, declared, where
        self.at, self.depth = 0, 0
        self.features: list[str] = []

    def parse(self) -> Node:
        node = self.either()
        if self.next.kind != "end":
            chained = self.next.text in _COMPARISONS
            self.refuse(f"found {self.next.text!r} after a complete part", "a comparison cannot be chained" * chained)
        return self.boolean(node)

    @property
    def next(self) -> Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else Token("end", "the end")

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

    def boolean(self, node: Node) -> Node:
        return self.typed(node, "yes/no")

    def typed(self, node: Node, wanted: Type) -> Node:
        if node.type != wanted:
            self.refuse(f"found a {node.type} value", f"a {wanted} value is needed here")
        return node

    def either(self) -> Node:
        return self.joined("OR", self.both)

    def both(self) -> Node:
        return self.joined("AND", self.negated)

    def joined(self, word: str, part: Callable[[], Node]) -> Node:
        parts = [part()]
        while self.accept(word):
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        sql = "(" + f" {word} ".join(self.boolean(p).sql for p in parts) + ")"
        return Node("yes/no", sql, [word, *(p.parts for p in parts)])

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"more than {MAX_DEPTH} levels of nesting", "split the question into several items")

    def negated(self) -> Node:
        if not self.accept("NOT"):
            return self.compared()
        self.deeper()
        node = self.boolean(self.negated())
        self.depth -= 1
        return _not(node)

    def compared(self) -> Node:
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
        how: dict[str, Callable[[Node], Node]] = {"BETWEEN": self.between, "IN": self.among, "LIKE": self.like}
        node = how[word](left)
        return _not(node) if negative else node

    def comparison(self, left: Node, sign: str, right: Node) -> Node:
        if left.type == "yes/no" or right.type == "yes/no":
            self.refuse("a yes/no value is compared", "write name or NOT name; a comparison cannot be chained")
        if left.type != right.type:
            self.refuse(f"a {left.type} value is compared with a {right.type} value")
        if left.type == "text" and sign not in ("=", "<>", "!="):
            self.refuse(f"text is compared with {sign}", "text is compared with =, <>, IN, LIKE or ~")
        return _compared(left, sign, right)

    def between(self, left: Node) -> Node:
        self.typed(left, "number")
        low = self.typed(self.sum(), "number")
        self.expect("AND")
        high = self.typed(self.sum(), "number")
        above, below = _compared(left, ">=", low), _compared(left, "<=", high)
        return Node("yes/no", f"({above.sql} AND {below.sql})", ["AND", above.parts, below.parts])

    def among(self, left: Node) -> Node:
        self.expect("(")
        values = [self.literal()]
        while self.accept(","):
            values.append(self.literal())
        self.expect(")")
        for value in values:
            self.typed(value, left.type)
        sql = f"({_operand(left)} IN ({', '.join(v.sql for v in values)}))"
        return Node("yes/no", sql, ["IN", _real(left) if left.whole else _value(left), [v.parts[1] for v in values]])

    def literal(self) -> Node:
        sign = "-" if self.accept("-") else ""
        node = self.atom() if self.next.kind in ("number", "text") else None
        if node is None or (sign and node.type != "number"):
            self.refuse(f"found {self.next.text!r} in a list", "a list holds numbers or quoted text")
        return _negative(node) if sign else node

    def like(self, left: Node) -> Node:
        return self.matched(left, "LIKE")

    def matched(self, left: Node, how: str) -> Node:
        self.typed(left, "text")
        if self.next.kind != "text":
            self.refuse(f"found {self.next.text!r} after {how}", "a pattern in single quotes is needed")
        pattern = self.atom()
        return Node("yes/no", f"({left.sql} {how} {pattern.sql})", [how, left.parts, pattern.parts[1]])

    def sum(self) -> Node:
        return self.arithmetic(("+", "-"), self.product)

    def product(self) -> Node:
        return self.arithmetic(("*",), self.signed)

    def arithmetic(self, signs: tuple[str, ...], part: Callable[[], Node]) -> Node:
        left = part()
        while sign := self.accept(*signs):
            right = self.typed(part(), "number")
            left = _computed(self.typed(left, "number"), sign, right)
        return left

    def signed(self) -> Node:
        if not self.accept("-"):
            return self.atom()
        if self.next.kind == "number":
            return _negative(self.atom())
        self.deeper()
        node = self.typed(self.signed(), "number")
        self.depth -= 1
        return _computed(Node("number", "0.0", ["value", 0.0]), "-", node)

    def atom(self) -> Node:
        token = self.next
        self.at += 1
        if token.kind == "number":
            if not math.isfinite(number := float(token.text)):
                self.refuse(f"the number {token.text} is too large")
            return Node("number", repr(number), ["value", number])
        if token.kind == "text":
            return Node("text", token.text, ["value", token.text[1:-1].replace("''", "'")])
        if token.kind == "name":
            return self.feature(token.text)
        self.at -= 1
        return self.nested()

    def nested(self) -> Node:
        """ABS(…) or a part in parentheses."""
        absolute = self.accept("ABS")
        self.expect_opening()
        self.deeper()
        node = self.either()
        self.depth -= 1
        self.expect(")")
        if absolute:
            sql = f"ABS({_float(self.typed(node, 'number'))})"
            return Node("number", sql, ["ABS", _real(node)], computes=True)
        return node

    def expect_opening(self) -> None:
        if not self.accept("("):
            self.refuse(f"found {self.next.text!r}", f"a value is needed here; {ALLOWED}")

    def feature(self, name: str) -> Node:
        feature = self.declared.get(name)
        if feature is None:
            self.refuse(f"{name!r} is no feature", nearest(name, self.declared) or ALLOWED)
        self.features.append(name)
        return Node(_KINDS[feature.dtype], f'"{name}"', ["feature", name], whole=feature.dtype == "int")


def _float(node: Node) -> str:
    """A number as float: arithmetic of whole numbers could overflow."""
    return f"CAST({node.sql} AS DOUBLE)" if node.whole else node.sql


def _operand(node: Node) -> str:
    """A compared value. NaN of Inf - Inf or 0 * Inf becomes NULL; polars would order NaN above every number."""
    return f"NULLIF({node.sql}, CAST('NaN' AS DOUBLE))" if node.computes else node.sql


def _real(node: Node) -> list[Any]:
    """The parts of a number as float."""
    return ["float", node.parts] if node.whole else node.parts


def _value(node: Node) -> list[Any]:
    """The parts of a compared value: NaN is not known."""
    return ["known", node.parts] if node.computes else node.parts


def _not(node: Node) -> Node:
    return Node("yes/no", f"(NOT {node.sql})", ["NOT", node.parts])


def _negative(number: Node) -> Node:
    return Node("number", f"-{number.sql}", ["value", -number.parts[1]])


def _computed(left: Node, sign: str, right: Node) -> Node:
    return Node("number", f"({_float(left)} {sign} {_float(right)})", [sign, _real(left), _real(right)], computes=True)


def _compared(left: Node, sign: str, right: Node) -> Node:
    """Whole numbers are compared as such, and with others as floats."""
    values = [_value(n) if left.whole and right.whole else _real(n) if n.whole else _value(n) for n in (left, right)]
    return Node("yes/no", f"({_operand(left)} {sign} {_operand(right)})", [sign, *values])
