"""Bare NaN and Infinity in lines of JSON, which strict parsers refuse: placeholders of the same length replace them.

The placeholders are counted before and after parsing. The counts differ where a placeholder was already in the data
or with_placeholders a word inside a text.
"""

import numpy as np
import numpy.typing as npt

_WORDS = {b"NaN": (b"7e9", np.nan), b"Infinity": (b"8.765e-7", np.inf)}  # word: (placeholder as long, its value)
_BEFORE = {b"NaN": b" \t:,[", b"Infinity": b" \t:,[-"}  # bytes that may precede a bare word
_BEHIND = b" \t\r\n,]}"  # bytes that may follow it


def contains_words(line: bytes) -> bool:
    """Whether a line contains one of the words."""
    return any(word in line for word in _WORDS)


def with_placeholders(data: bytes, ends: npt.NDArray[np.int64]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """The data with placeholders for the words, and the number of words in each line; lines end at `ends`."""
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


def restore_values(column: npt.NDArray[np.float64]) -> int:
    """Replace the placeholders in a parsed column, in place, by their values. Returns how many there were."""
    count = 0
    for number, value in _WORDS.values():
        for sign in (1.0, -1.0):
            found = column == sign * float(number)
            column[found] = sign * value
            count += int(np.count_nonzero(found))
    return count
