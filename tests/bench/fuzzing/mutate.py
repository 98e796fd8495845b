"""Damage as disks, crashes and writers make it, with the origin of every byte that is left."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CHANGED = -1  # origin of a byte that no seed holds at that place
OTHER = 1 << 28  # origins of the second seed begin here
INTEGERS = (0, 1, 7, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
            (1 << 63) - 1, 1 << 63, (1 << 64) - 1)  # fmt: skip
TOKENS = (
    b'"',
    b"'",
    b",",
    b"|",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"nan",
    b"-inf",
    b"1e999",
    b"-1e-999",
    b"9" * 400,
    b"[" * 300,
    b"{" * 300,
    b"]",
    b"}",
    b'{"',
    b"\\u0000",
    b"\\ud800",
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b"&a *a",
    b"!!x",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf8",
    b"\x1b[31m",
    b"\x0c",
    b"\xe2\x80\xa8",
    b"#",
    b"Traceback (most recent call last):\n",
    b"step",
    b"epoch",
    b"18446744073709551616",
    b"-",
    b":",
    b"%s",
)


class Input(NamedTuple):
    """Bytes, and for each the offset in the seed it came from."""

    data: bytes
    origin: NDArray[np.int64]

    def replaced(self, at: int, end: int, new: bytes, origin: NDArray[np.int64] | None = None) -> "Input":
        """With `new` in place of the bytes from `at` to `end`."""
        marks = np.full(len(new), CHANGED) if origin is None else origin
        old = self.data[at:end]
        if origin is None and len(new) == len(old):  # what was written may be what stood there
            same = np.frombuffer(old, np.uint8) == np.frombuffer(new, np.uint8)
            marks = np.where(same, self.origin[at:end], CHANGED)
        marks = np.concatenate([self.origin[:at], marks, self.origin[end:]])
        return Input(self.data[:at] + new + self.data[end:], marks)


class Mutation(NamedTuple):
    """One step of damage. `at` and `size` are taken modulo what there is, `salt` seeds whatever is made up."""

    kind: str
    at: int
    size: int
    salt: int


def whole(data: bytes, first: int = 0) -> Input:
    return Input(data, np.arange(first, first + len(data)))


def flip(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    return it.replaced(at, at + 1, bytes([it.data[at] ^ (1 << salt % 8)]))


def zero(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    end = min(at + size, len(it.data))
    return it.replaced(at, end, bytes(end - at))


def zero_page(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    page = (512, 4096)[salt % 2]
    begin = at // page * page
    return zero(it, begin, page, salt, other)


def truncate(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    return Input(it.data[:at], it.origin[:at])


def delete(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    return it.replaced(at, at + size, b"")


def garbage(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    return it.replaced(at, at, random.Random(salt).randbytes(size))


def overwrite(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    end = min(at + size, len(it.data))
    return it.replaced(at, end, random.Random(salt).randbytes(end - at))


def duplicate(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    to = salt % (len(it.data) + 1)
    return it.replaced(to, to, it.data[at : at + size], it.origin[at : at + size])


def splice(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    begin = salt % (len(other.data) + 1)
    return Input(it.data[:at] + other.data[begin:], np.concatenate([it.origin[:at], other.origin[begin:]]))


def integer(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    width = (1, 2, 4, 8)[salt % 4]
    value = INTEGERS[salt // 4 % len(INTEGERS)] & ((1 << 8 * width) - 1)
    return it.replaced(at, at + width, value.to_bytes(width, "little"))


def token(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    return it.replaced(at, at + salt % 2 * (size % 4), TOKENS[salt // 2 % len(TOKENS)])


def repeat_line(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    begin = it.data.rfind(b"\n", 0, at) + 1
    end = it.data.find(b"\n", at) + 1 or len(it.data)
    times = 1 + salt % 50 if end - begin < 1000 else 1
    return it.replaced(end, end, it.data[begin:end] * times, np.tile(it.origin[begin:end], times))


def long_line(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    return it.replaced(at, at, (b"x", b"7", b" ", b",", b"a=1 ")[salt % 5] * (salt % 30_000))


def nuls(it: Input, at: int, size: int, salt: int, other: Input) -> Input:
    return it.replaced(at, at, bytes(1 + salt % 64))


KINDS: dict[str, Callable[[Input, int, int, int, Input], Input]] = {f.__name__: f for f in (
    flip, zero, zero_page, truncate, delete, garbage, overwrite, duplicate, splice, integer, token, repeat_line,
    long_line, nuls,
)}  # fmt: skip


def plan(rng: random.Random, size: int, borders: Sequence[int]) -> list[Mutation]:
    """One to four mutations of a seed of `size` bytes; a third of them begin at one of `borders` (of records)."""
    out = []
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 4))):
        kind = rng.choices(list(KINDS), [1 if kind == "long_line" else 5 for kind in KINDS])[0]
        at = rng.choice(borders) if borders and rng.random() < 0.34 else rng.randrange(size + 1)
        length = rng.choice(borders) - at if borders and rng.random() < 0.2 else 0  # whole records
        length = length if length > 0 else int(2 ** rng.uniform(0, 12))
        out.append(Mutation(kind, at, length, rng.getrandbits(30)))
    return out


def mutated(seed: bytes, other: bytes, steps: Sequence[Mutation]) -> Input:
    """The seed after all steps; `other` is what splicing continues with."""
    it, second = whole(seed), whole(other, OTHER)
    for kind, at, size, salt in steps:
        if it.data:
            it = KINDS[kind](it, at % len(it.data), size, salt, second)
    return it


def runs(origin: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """(place, origin, length) of every stretch that stands as in a seed."""
    if not len(origin):
        return []
    breaks = np.flatnonzero((np.diff(origin) != 1) | (origin[1:] == 0)) + 1
    starts = [0, *breaks.tolist()]
    ends = [*breaks.tolist(), len(origin)]
    return [(a, int(origin[a]), b - a) for a, b in zip(starts, ends, strict=True) if origin[a] != CHANGED]
