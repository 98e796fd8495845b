"""Damage as disks, networks, crashes and people do it: a mutant is a seed file and the list of what was done to it."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

LONGEST = 4000  # bytes of a range
LONG_LINE = 100_000
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 62, 2**64 - 1)
WORDS = (
    b"NaN", b"nan", b"inf", b"-Infinity", b"null", b"1e999", b"-0", b"1_000", b"9" * 400, b"{", b"[", b"}", b'"', b"'",
    b",", b";", b"|", b":", b"=", b"\t", b"\r", b"\n\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xf0\x9f", b"%s" * 9,
    b"---\n", b"!!python/object", b"&a [*a, *a]", b"step", b"loss: nan", b"[" * 2000,
    b"Traceback (most recent call last):\n",
)  # fmt: skip


class Mutation(NamedTuple):
    """What was done at offset `at` (counted round) over `length` bytes; `number` seeds what is put there."""

    kind: str
    at: int
    length: int
    number: int


Action = Callable[[bytearray, int, int, random.Random, Sequence[bytes]], None]


def mutations(rng: random.Random, size: int) -> list[Mutation]:
    """A few mutations for a file of `size` bytes."""
    return [
        Mutation(
            kind=rng.choice(_CHOICES),
            at=rng.randrange(size + 1),
            length=min(int(2 ** rng.uniform(0, 12)), LONGEST),
            number=rng.randrange(1 << 30),
        )
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5)))
    ]


def mutated(data: bytes, done: Sequence[Mutation], others: Sequence[bytes]) -> bytes:
    """`data` after all mutations; `others` are files from which ranges may come."""
    out = bytearray(data)
    for kind, at, length, number in done:
        ACTIONS[kind](out, at % (len(out) + 1), length, random.Random(number), others)
    return bytes(out)


def _truncate(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    del out[at:]


def _bit(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    if at < len(out):
        out[at] ^= 1 << rng.randrange(8)


def _byte(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    out[at : at + 1] = rng.randbytes(1)


def _zeros(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    out[at : at + length] = bytes(len(out[at : at + length]))


def _page(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    begin = at - at % 512
    _zeros(out, begin, rng.choice((512, 4096)), rng, others)


def _delete(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    del out[at : at + length]


def _garbage(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    out[at:at] = rng.randbytes(length)


def _repeat(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    out[at:at] = out[at : at + length] * rng.choice((1, 1, 3))


def _copy(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    begin = rng.randrange(len(out) + 1)
    out[at:at] = out[begin : begin + length]


def _splice(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    other = rng.choice(others)
    begin = rng.randrange(len(other) + 1)
    end = len(other) if rng.random() < 0.2 else begin + length
    out[at : rng.choice((at, at + length, len(out)))] = other[begin:end]


def _integer(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    width = rng.choice((1, 2, 4, 8))
    number = rng.choice(INTERESTING) % (1 << 8 * width)
    out[at : at + width] = number.to_bytes(width, rng.choice(("little", "big")))


def _word(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    out[at : rng.choice((at, at + 1, at + 4))] = rng.choice(WORDS)


def _line_again(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    begin, end = _line(out, at)
    place = _line(out, rng.randrange(len(out) + 1))[0]
    out[place:place] = out[begin:end] * rng.choice((1, 1, 2, 50))


def _no_line(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    begin, end = _line(out, at)
    del out[begin:end]


def _long_line(out: bytearray, at: int, length: int, rng: random.Random, others: Sequence[bytes]) -> None:
    out[at:at] = rng.choice((b"x", b" ", b"1,", b'"', b"a=1 ", b"\xe2\x82")) * (LONG_LINE // rng.choice((1, 10)))


def _line(out: bytearray, at: int) -> tuple[int, int]:
    """Where the line that holds offset `at` begins and ends."""
    end = out.find(b"\n", at)
    return out.rfind(b"\n", 0, at) + 1, end + 1 if end >= 0 else len(out)


ACTIONS: dict[str, Action] = {
    "truncate": _truncate,
    "flip a bit": _bit,
    "change a byte": _byte,
    "zero a range": _zeros,
    "zero a page": _page,
    "delete": _delete,
    "insert garbage": _garbage,
    "repeat a range": _repeat,
    "copy a range": _copy,
    "splice": _splice,
    "integer": _integer,
    "word": _word,
    "repeat a line": _line_again,
    "delete a line": _no_line,
    "a long line": _long_line,
}
_CHOICES = [kind for kind in ACTIONS for _ in range(1 if kind == "a long line" else 8)]
