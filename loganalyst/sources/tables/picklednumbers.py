"""Pickles of plain data and NumPy's numbers: the stack machine of `plainpickle` with the calls of `picklecalls`.

The value is a tree as JSON would have it. `MAX_BYTES`, `MAX_NUMBERS` and `MAX_DEPTH` bound it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from loganalyst.sources.flightrecorder.plainpickle import FAULTS, Machine, RefusedError
from loganalyst.sources.tables.picklecalls import MAX_NAME, Calls, Dtype, Symbol, symbol

MAX_BYTES = 8 << 20  # of a pickle: nearly a million numbers; one made to be slow takes seconds
MAX_NUMBERS = 2_000_000  # of all values in a pickle
MAX_DEPTH = 6  # of lists and dictionaries within each other
MAX_KEY = 200  # characters of a key: names of metrics repeat those of the dictionaries around them
_TEXT = 32  # characters of a text that count as one value: a pickle can repeat a long text with two bytes


class Found(NamedTuple):
    """A value of texts, numbers, lists and dictionaries, and the arrays that it leaves out, for a gap."""

    value: object
    lost: Sequence[str] = ()


def loads(data: bytes) -> Found:
    """The value in a pickle. Raises RefusedError, or ClassError for one that asks for a class.

    >>> loads(b"\\x80\\x02}X\\x04\\x00\\x00\\x00loss]K\\x02as.")
    Found(value={'loss': [2]}, lost=())
    """
    if len(data) > MAX_BYTES:
        raise RefusedError(f"larger than {MAX_BYTES >> 20} MiB")
    machine = _Machine(data)
    return Found(_plain(machine.value(), [MAX_NUMBERS]), tuple(machine.calls.lost))


def opening(head: bytes) -> object:
    """What a pickle that begins with `head` holds so far; None where nothing is known. Raises RefusedError.

    >>> opening(b"\\x80\\x02}(X\\x04\\x00\\x00\\x00loss](K\\x02K\\x01K")
    {'loss': [2, 1]}
    """
    machine = _Machine(head)
    try:
        found = machine.run()
    except FAULTS:
        found = machine.folded()
    return _plain(found, [len(head)])


def _plain(value: object, left: list[int], depth: int = 0) -> object:
    """A copy as a tree of at most `left` values: shared lists could multiply, and cycles never end."""
    if depth > MAX_DEPTH:
        raise RefusedError(f"lists within lists, deeper than {MAX_DEPTH}")
    left[0] -= len(value) if isinstance(value, list | dict) else len(value) // _TEXT if isinstance(value, str) else 0
    if left[0] < 0:
        raise RefusedError(f"more than {MAX_NUMBERS:,} values")
    if isinstance(value, list):
        return [item if type(item) is float else _plain(item, left, depth + 1) for item in value]
    if isinstance(value, dict):
        if any(len(key) > MAX_KEY for key in value):
            raise RefusedError(f"a key is longer than {MAX_KEY} characters")
        return {key: _plain(item, left, depth + 1) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    raise RefusedError("it holds bytes or types, which are no numbers")


class _Machine(Machine):
    """The stack machine with the opcodes that name and call what NumPy's numbers need."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.calls = Calls()

    def others(self) -> dict[int, Callable[[], None]]:
        """What each of the less frequent opcodes does."""
        push, stack, size = self._stack.append, self._stack, self._size
        return super().others() | {
            0x63: lambda: push(symbol(self._line(), self._line())),  # GLOBAL
            0x93: lambda: push(symbol(stack.pop(-2), stack.pop())),  # STACK_GLOBAL
            0x52: lambda: push(self._counted(self.calls.call(stack.pop(-2), stack.pop()))),  # REDUCE
            0x62: self._build,  # BUILD
            0x43: lambda: push(self._bytes(size(1))),  # SHORT_BINBYTES
            0x42: lambda: push(self._bytes(size(4))),  # BINBYTES
            0x8E: lambda: push(self._bytes(size(8))),  # BINBYTES8
            0x96: lambda: push(self._bytes(size(8))),  # BYTEARRAY8
        }

    def folded(self) -> object:
        """What stands on the stack of a pickle that breaks off, each value in the container that it was made for."""
        stack = self._stack
        for begin in [*reversed(self._marks), 1]:
            items, owner = _finished(stack[begin:]), stack[begin - 1] if 0 < begin <= len(stack) else None
            del stack[begin:]
            if isinstance(owner, list):
                owner.extend(items)
            elif isinstance(owner, dict):
                pairs = zip(items[::2], items[1::2], strict=False)
                owner.update((key, value) for key, value in pairs if isinstance(key, str))
        return stack[0] if stack else None

    def _set(self, pairs: list[object]) -> None:
        super()._set([str(x) if type(x) is int and k % 2 == 0 else x for k, x in enumerate(pairs)])  # as JSON has them

    def _build(self) -> None:
        state = self._stack.pop()
        self.calls.build(self._stack[-1], state)

    def _size(self, width: int) -> int:
        return int.from_bytes(self._bytes(width), "little")

    def _line(self) -> str:
        """A name up to the line break. Raises IndexError."""
        end = self._data.find(b"\n", self.at, self.at + MAX_NAME)
        if end < 0:
            raise IndexError
        found = self._data[self.at : end].decode()
        self.at = end + 1
        return found


def _finished(items: Sequence[object]) -> Sequence[object]:
    """The values before the first of which a call has still to make a number."""
    begun = (k for k, item in enumerate(items) if isinstance(item, Symbol | Dtype | bytes))
    return items[: next(begun, len(items))]
