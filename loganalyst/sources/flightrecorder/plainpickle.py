"""Pickles of plain data (dictionaries, lists, tuples, texts and numbers), by a stack machine without classes.

No name is ever looked up, so nothing can be called. Tuples become lists and keys must be texts, so hashing stays cheap.
References are never copied. `MAX_BYTES`, `MAX_CONTAINERS` and `MAX_MEMO` bound the memory. The opcodes are those of
Python's `pickletools`; torch writes protocol 2, Python up to 5. Pickles as torch writes them are checked first and
then left to Python's own reader, which is several times faster (`torchpickle`).
"""

from collections.abc import Callable
from struct import Struct, error

from loganalyst.sources.flightrecorder import torchpickle

MAX_BYTES = 64 << 20  # of a pickle
MAX_CONTAINERS = 1_000_000
MAX_MEMO = 2_000_000  # values that a pickle may refer to again: each takes one byte of the file, and 100 in memory
_DOUBLE, _SHORT, _INT, _SIZE, _LONG = (Struct(code) for code in (">d", "<H", "<i", "<I", "<Q"))
_TOO_MANY = f"more than {MAX_MEMO:,} values to refer to"
_KEY_TYPES = {str}
FAULTS = (IndexError, KeyError, TypeError, UnicodeDecodeError, error)  # of a damaged pickle


class RefusedError(ValueError):
    """The pickle is damaged, too large, or asks for more than plain data."""


def loads(data: bytes) -> object:
    """The value in a pickle. Raises RefusedError."""
    if len(data) > MAX_BYTES:
        raise RefusedError(f"larger than {MAX_BYTES >> 20} MiB")
    by_torch = torchpickle.loads(data, MAX_CONTAINERS)
    if by_torch is not None:
        return by_torch
    return Machine(data).value()


class Machine:
    """The stack machine of a pickle, without the opcodes that reach outside it."""

    def __init__(self, data: bytes) -> None:
        self.at = 0
        self._data = data
        self._stack: list[object] = []
        self._marks: list[int] = []  # the height of the stack at each mark
        self._memo: dict[int, object] = {}
        self._containers = 0

    def value(self) -> object:
        """The value in the pickle. Raises RefusedError."""
        try:
            return self.run()
        except FAULTS as fault:
            raise RefusedError(f"damaged at byte {self.at}: {type(fault).__name__}") from None

    def run(self) -> object:
        """The value on the stack at STOP. Raises RefusedError, or one of FAULTS where the pickle is damaged.

        The most frequent opcodes are inline, since a call doubles their cost.
        """
        data, stack, marks, memo, others = self._data, self._stack, self._marks, self._memo, self.others()
        number, at = _SIZE.unpack_from, 0
        while True:
            code = data[at]
            at += 1
            if code == 0x68:  # BINGET: nearly half of a dump's opcodes
                stack.append(memo[data[at]])
                at += 1
            elif code == 0x28:  # MARK
                marks.append(len(stack))
            elif code == 0x71:  # BINPUT
                memo[data[at]] = stack[-1]
                at += 1
            elif code == 0x6A:  # LONG_BINGET
                stack.append(memo[number(data, at)[0]])
                at += 4
            elif code == 0x72:  # LONG_BINPUT
                memo[number(data, at)[0]] = stack[-1]
                at += 4
                if len(memo) > MAX_MEMO:
                    raise RefusedError(_TOO_MANY)
            elif code == 0x4B:  # BININT1
                stack.append(data[at])
                at += 1
            elif code == 0x2E:  # STOP
                return stack.pop()
            else:
                self.at = at
                act = others.get(code)
                if act is None:
                    raise RefusedError(f"byte {at - 1} asks for more than plain data (opcode {code:#04x})")
                act()
                at = self.at

    def others(self) -> dict[int, Callable[[], None]]:
        """What each of the less frequent opcodes does."""
        push, stack = self._stack.append, self._stack
        return {
            0x80: lambda: self._skip(1),  # PROTO
            0x95: lambda: self._skip(8),  # FRAME
            0x4E: lambda: push(None),
            0x88: lambda: push(True),
            0x89: lambda: push(False),
            0x7D: lambda: push(self._counted({})),
            0x5D: lambda: push(self._counted([])),
            0x29: lambda: push(self._counted([])),  # EMPTY_TUPLE
            0x85: lambda: self._tuple(1),
            0x86: lambda: self._tuple(2),
            0x87: lambda: self._tuple(3),
            0x74: lambda: push(self._counted(self._marked())),  # TUPLE
            0x65: lambda: self._extend(self._marked()),  # APPENDS
            0x61: lambda: self._extend([stack.pop()]),
            0x75: lambda: self._set(self._marked()),  # SETITEMS
            0x73: lambda: self._set([stack.pop(-2), stack.pop()]),
            0x94: self._memoize,  # MEMOIZE
            0x4D: lambda: push(self._number(_SHORT)),
            0x4A: lambda: push(self._number(_INT)),
            0x8A: lambda: push(int.from_bytes(self._bytes(self._bytes(1)[0]), "little", signed=True)),  # LONG1
            0x47: lambda: push(_DOUBLE.unpack(self._bytes(8))[0]),
            0x58: lambda: push(self._text(self._number(_SIZE))),  # BINUNICODE
            0x8C: lambda: push(self._text(self._bytes(1)[0])),
            0x8D: lambda: push(self._text(self._number(_LONG))),
        }

    def _memoize(self) -> None:
        self._memo[len(self._memo)] = self._stack[-1]
        if len(self._memo) > MAX_MEMO:
            raise RefusedError(_TOO_MANY)

    def _skip(self, size: int) -> None:
        self.at += size

    def _bytes(self, size: int) -> bytes:
        found = self._data[self.at : self.at + size]
        if len(found) < size:
            raise IndexError
        self.at += size
        return found

    def _number(self, form: Struct) -> int:
        number: int = form.unpack(self._bytes(form.size))[0]
        return number

    def _text(self, size: int) -> str:
        return self._bytes(size).decode("utf-8", "surrogatepass").encode("utf-8", "replace").decode()

    def _counted(self, container: object) -> object:
        self._containers += 1
        if self._containers > MAX_CONTAINERS:
            raise RefusedError(f"more than {MAX_CONTAINERS:,} containers")
        return container

    def _marked(self) -> list[object]:
        """Take everything above the last mark from the stack."""
        begin = self._marks.pop()
        found = self._stack[begin:]
        del self._stack[begin:]
        return found

    def _tuple(self, size: int) -> None:
        found = self._stack[-size:]
        if len(found) < size:
            raise IndexError
        self._stack[-size:] = [self._counted(found)]

    def _extend(self, values: list[object]) -> None:
        target = self._stack[-1]
        if not isinstance(target, list):
            raise TypeError
        target.extend(values)

    def _set(self, pairs: list[object]) -> None:
        target, keys = self._stack[-1], pairs[::2]
        if not isinstance(target, dict) or not _KEY_TYPES.issuperset(map(type, keys)):
            raise RefusedError(f"a key before byte {self.at} is not a text")
        target.update(zip(keys, pairs[1::2], strict=False))
