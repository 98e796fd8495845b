"""Pickles as torch writes them, loaded by Python's own reader after every opcode was checked to be harmless.

Allowed are numbers, texts, lists, dictionaries, and small memo indices, none of whose opcodes can call anything. Tuples
are not allowed, since deep ones take for ever to hash. Lists replace empty tuples, and the pairs of texts that torch
writes as tuples, first.
"""

import io
import pickle
import re
from typing import NoReturn

_PLACE = rb"..[\x00-\x0f]\x00"  # a memo index below 2^20, four bytes little-endian
# X, a length below 256, the text, and q or r, which store it in the memo
_TEXT = rb"X.\x00{3}[^X]{0,255}?(?:q.|r" + _PLACE + rb")"
_KNOWN = rb"(?:h.|j" + _PLACE + rb")"  # h or j: a value from the memo
_TWO_KNOWN = re.compile(_KNOWN + _KNOWN + rb"\Z", re.DOTALL)
_ONE_NEW = re.compile(rb"(?:%b%b|%b%b|%b%b)\Z" % (_TEXT, _TEXT, _KNOWN, _TEXT, _TEXT, _KNOWN), re.DOTALL)
_MAX_TWO_KNOWN = 10  # bytes
# all allowed opcodes except texts, whose length is in the data
_HARMLESS = re.compile(
    rb"(?:[hqK].|[(Nu}\]s\x88\x89eal]|[jr]"
    + _PLACE
    + rb"|M..|J....|G.{8}|\x80[\x02-\x05]|"
    + b"|".join(rb"\x8a" + bytes([n]) + rb".{%d}" % n for n in range(8, 0, -1))
    + rb")+",
    re.DOTALL,
)
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
_OPEN = b"]}()l"  # opcodes that make a list or a dictionary


def loads(data: bytes, containers: int) -> object | None:
    """The value in a pickle; None if it has other opcodes, or may exceed `containers` lists and dictionaries."""
    if len(data) - len(data.translate(None, _OPEN)) > containers:
        return None
    plain = _plain(data)
    try:
        return None if plain is None else _Reader(io.BufferedReader(io.BytesIO(plain))).load()
    except (pickle.UnpicklingError, ValueError, TypeError, LookupError, EOFError, AttributeError):
        return None


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"{module}.{name}")


def _plain(data: bytes) -> bytes | None:
    """The pickle with lists instead of pairs of texts; None if an opcode is not allowed."""
    done: list[bytes] = []
    copied = at = before = last = 0  # `before`, `last`: where the last two texts begin
    while True:
        if run := _HARMLESS.match(data, at):
            at = run.end()
        code = data[at : at + 1]
        if code == b"X":
            before, last, text = last, at, at + 5
            at = text + int.from_bytes(data[at + 1 : text], "little")
            if _SURROGATE.search(data, text, at):
                return None
        elif code == b")":  # an empty tuple
            done += (data[copied:at], b"]")
            at = copied = before = last = at + 1
        elif code == b"\x86":
            pair = _TWO_KNOWN.search(data, max(at - _MAX_TWO_KNOWN, copied), at) or _ONE_NEW.search(data, before, at)
            if pair is None:
                return None
            done += (data[copied : pair.start()], b"(", pair[0], b"l")
            at = copied = before = last = at + 1
        else:
            return b"".join([*done, data[copied:]]) if data[at:] == b"." else None
