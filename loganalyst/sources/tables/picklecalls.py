"""What NumPy's numbers in a pickle call: a few names whose effect is written here. Nothing is looked up or imported.

A dtype and bytes become numbers, and an array of one dimension becomes a list. Any other name is refused. `MAX_BYTES`
bounds what calls may make, since a pickle repeats a call with five bytes. Sources: numpy 1.26 and 2.4,
`_core/src/multiarray/methods.c` (`array_reduce_ex`), `scalartypes.c.src` (`gentype_reduce`), `_core/numeric.py`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from loganalyst.sources.flightrecorder.plainpickle import RefusedError

MAX_BYTES = 32 << 20  # of what all calls of a pickle make
MAX_NAME = 200  # characters of a name
MAX_LOST = 3  # arrays that are named as left out
_MAX_SHOWN = 6  # dimensions of such an array
_NUMBER_BYTES = 8  # of a list, for each number
_TYPE = re.compile(r"[iu][1248]|f[248]|b1")  # `f4`, `i8`, `b1`: what NumPy calls its numbers
_CORES = ("numpy.core", "numpy._core")  # of NumPy 1 and 2
_KNOWN = {
    "_codecs.encode": "encode",
    "__builtin__.bytes": "bytes",
    "builtins.bytes": "bytes",
    "numpy.ndarray": "ndarray",
    "numpy.dtype": "dtype",
    **{f"{core}.multiarray.scalar": "scalar" for core in _CORES},
    **{f"{core}.multiarray._reconstruct": "reconstruct" for core in _CORES},
    **{f"{core}.numeric._frombuffer": "frombuffer" for core in _CORES},
}


class ClassError(RefusedError):
    """The pickle asks for a class or function that is not known; `name` is its dotted name."""

    def __init__(self, name: str) -> None:
        self.name = "".join(c if c.isprintable() and c.isascii() and c != "`" else "?" for c in name[:MAX_NAME])
        super().__init__(f"it holds `{self.name}`, which could run code")


@dataclass(frozen=True)
class Symbol:
    """A known name, by what it does."""

    does: str


@dataclass
class Dtype:
    """The type of numbers: `f8`, and the order of its bytes once it is known."""

    code: str
    order: str = "="


def symbol(module: object, name: object) -> Symbol:
    """The symbol of a name. Raises ClassError for any that is not known, TypeError for what is no name.

    >>> symbol("numpy.core.multiarray", "scalar")
    Symbol(does='scalar')
    """
    if not isinstance(module, str) or not isinstance(name, str):
        raise TypeError
    dotted = f"{module[:MAX_NAME]}.{name[:MAX_NAME]}"
    if dotted not in _KNOWN:
        raise ClassError(dotted)
    return Symbol(_KNOWN[dotted])


class Calls:
    """The calls of one pickle; `lost` says which arrays are left out."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        self._made = 0  # bytes
        self._acts: dict[str, Callable[[Sequence[object]], object]] = {
            "bytes": lambda _: b"",
            "dtype": _dtype,
            "encode": self._encoded,
            "frombuffer": self._frombuffer,
            "reconstruct": lambda _: [],  # BUILD fills it
            "scalar": self._scalar,
        }

    def call(self, called: object, given: object) -> object:
        """What a call makes. Raises RefusedError, or TypeError or IndexError for a damaged one."""
        act = self._acts.get(called.does) if isinstance(called, Symbol) else None
        if act is None or not isinstance(given, list):
            raise RefusedError("it calls something else than a known name")
        return act(given)

    def build(self, target: object, state: object) -> None:
        """Give a dtype the order of its bytes, or an array its numbers. Raises as `call`."""
        if isinstance(target, Dtype) and isinstance(state, list):
            target.order = ">" if state[1] == ">" else "<"
        elif isinstance(target, list) and not target:
            _, shape, dtype, _, raw = _several(state, 5)
            target.extend(self._array(raw, dtype, shape))
        else:
            raise RefusedError("it sets the state of something else than an array")

    def _encoded(self, given: Sequence[object]) -> bytes:
        """Bytes as protocol 2 has them: a text in Latin-1."""
        text, code = _several(given, 2)
        if not isinstance(text, str) or code != "latin1" or any(c > "\xff" for c in text):
            raise TypeError
        self._pay(len(text))
        return text.encode("latin1")

    def _scalar(self, given: Sequence[object]) -> object:
        dtype, raw = _several(given, 2)
        return self._numbers(raw, dtype, 1)[0]

    def _frombuffer(self, given: Sequence[object]) -> object:
        raw, dtype, shape, _ = _several(given, 4)
        return self._array(raw, dtype, shape)

    def _array(self, raw: object, dtype: object, shape: object) -> list[object]:
        """The numbers of an array of at most one dimension; nothing for others, which are `lost`."""
        if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
            raise TypeError
        if len(shape) <= 1:
            return self._numbers(raw, dtype, prod(shape))
        if len(self.lost) < MAX_LOST:
            sizes = ", ".join(f"{size:,}" if size < MAX_BYTES else "…" for size in shape[:_MAX_SHOWN])
            self.lost.append(f"an array of shape ({sizes}) is no curve")
        return []

    def _numbers(self, raw: object, dtype: object, count: int) -> list[object]:
        if not isinstance(raw, bytes) or not isinstance(dtype, Dtype):
            raise TypeError
        kind = np.dtype(dtype.order + dtype.code)
        if len(raw) != count * kind.itemsize:
            raise IndexError
        self._pay(count * _NUMBER_BYTES)
        found: list[object] = np.frombuffer(raw, kind).tolist()
        return found

    def _pay(self, size: int) -> None:
        self._made += size
        if self._made > MAX_BYTES:
            raise RefusedError(f"its calls make more than {MAX_BYTES >> 20} MiB")


def _several(given: object, count: int) -> Sequence[object]:
    if not isinstance(given, list) or len(given) != count:
        raise TypeError
    return given


def _dtype(given: Sequence[object]) -> Dtype:
    code = given[0]
    if not isinstance(code, str) or not _TYPE.fullmatch(code):
        raise RefusedError(f"NumPy's type {str(code)[:20]!r} is no number")
    return Dtype(code)
