"""The words and signs that a question of a rule may consist of."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from loganalyst.errors import RuleError

ALLOWED = (
    "allowed are feature names, numbers, 'text', = <> != < <= > >=, BETWEEN, IN, LIKE, ~, AND, OR, NOT, + - *, ABS "
    "and parentheses"
)
_KEYWORDS = frozenset({"AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ABS"})
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


class Token(NamedTuple):
    """A word or a sign: its kind (name, keyword, number, text, sign) and its text; keywords in upper case."""

    kind: str
    text: str


def tokens(text: str, where: str) -> Iterator[Token]:
    """The allowed tokens of `text`; RuleError at the first other character."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup == "refused":
            found = match.group() if match else text[at]
            raise RuleError(where, f"found {found!r}", "; ".join(filter(None, (_INSTEAD.get(found), ALLOWED))))
        kind = match.lastgroup or ""
        if kind == "name" and match.group().upper() in _KEYWORDS:
            yield Token("keyword", match.group().upper())
        elif kind != "space":
            yield Token(kind, match.group())
        at = match.end()
