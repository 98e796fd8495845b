"""Pickles as torch writes them, by Python's own reader: only after every opcode was seen to be harmless.

Allowed are numbers, texts, lists, dictionaries, and memo places near the start. Nothing among these can call anything,
and without tuples no key takes for ever to hash: empty ones, and the pairs of texts that torch writes as tuples, are
made lists before.
"""

import io
import pickle
import re
from typing import NoReturn

_PLACE = rb"..[\x00-\x0f]\x00"  # in the memo; a million at most
_TEXT = rb"X.\x00{3}[^X]{0,255}?(?:q.|r" + _PLACE + rb")"
_KNOWN = rb"(?:h.|j" + _PLACE + rb")"
_TWO_KNOWN = re.compile(_KNOWN + _KNOWN + rb"\Z", re.DOTALL)
_ONE_NEW = re.compile(rb"(?:%b%b|%b%b|%b%b)\Z" % (_TEXT, _TEXT, _KNOWN, _TEXT, _TEXT, _KNOWN), re.DOTALL)
_LONGEST = 10  # bytes of two known ones
# All opcodes but texts, whose length they tell themselves
_HARMLESS = re.compile(
    rb"(?:[hqK].|[(Nu}\]s\x88\x89eal]|[jr]"
    + _PLACE
    + rb"|M..|J....|G.{8}|\x80[\x02-\x05]|"
    + b"|".join(rb"\x8a" + bytes([n]) + rb".{%d}" % n for n in range(8, 0, -1))
    + rb")+",
    re.DOTALL,
)
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
_OPEN = b"]}()l"  # what makes a list or a dictionary


def loads(data: bytes, containers: int) -> object | None:
    """What the pickle holds; None where it is none of these, or may hold more lists and dictionaries than allowed."""
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
    """The pickle with lists for pairs of texts; None where an opcode is not allowed."""
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
            pair = _TWO_KNOWN.search(data, max(at - _LONGEST, copied), at) or _ONE_NEW.search(data, before, at)
            if pair is None:
                return None
            done += (data[copied : pair.start()], b"(", pair[0], b"l")
            at = copied = before = last = at + 1
        else:
            return b"".join([*done, data[copied:]]) if data[at:] == b"." else None
