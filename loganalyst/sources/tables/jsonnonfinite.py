"""Bare NaN and Infinity in lines of JSON, which strict readers refuse: numbers as long take their place for a while.

These numbers are counted before and after, so that none that was there before, and no word in a text, goes unseen.
"""

import numpy as np
import numpy.typing as npt

_WORDS = {b"NaN": (b"7e9", np.nan), b"Infinity": (b"8.765e-7", np.inf)}
_BEFORE = {b"NaN": b" \t:,[", b"Infinity": b" \t:,[-"}
_BEHIND = b" \t\r\n,]}"


def held(line: bytes) -> bool:
    """Whether one of the words stands anywhere in a line."""
    return any(word in line for word in _WORDS)


def replaced(data: bytes, ends: npt.NDArray[np.int64]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """The data with numbers in place of the words; how many, by the lines that end at `ends`."""
    codes, counts = np.frombuffer(bytearray(data), np.uint8), np.zeros(len(ends), np.int64)
    for word, (number, _) in _WORDS.items():
        at = np.flatnonzero(codes[: len(codes) - len(word)] == word[0])
        for i, code in enumerate(word):
            at = at[codes[at + i] == code]
        at = at[np.isin(codes[at - 1], [*_BEFORE[word]]) & np.isin(codes[at + len(word)], [*_BEHIND])]
        for i, code in enumerate(number):
            codes[at + i] = code
        counts += np.bincount(np.searchsorted(ends, at), minlength=len(ends))
    return codes.tobytes(), counts


def restored(column: npt.NDArray[np.float64]) -> int:
    """Put the values of the words into a column that was read of such lines; how many."""
    count = 0
    for number, value in _WORDS.values():
        for sign in (1.0, -1.0):
            found = column == sign * float(number)
            column[found] = sign * value
            count += int(np.count_nonzero(found))
    return count
