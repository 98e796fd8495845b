"""CRC-32C of many byte ranges."""

import random

import numpy as np
import pytest
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from loganalyst.sources.tensorboard import crc32c

DATA = random.Random(0).randbytes(5000)


def unmasked(masked: int) -> int:
    rotated = (masked - crc32c.MASK_DELTA) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF


def test_check_value():
    """The check value of CRC-32C: that of the digits 1 to 9."""
    assert unmasked(crc32c.masked(b"123456789")) == 0xE3069283


@pytest.mark.parametrize(
    "ranges",
    [[(0, 0), (1, 2), (5, 105)], [(0, 511), (3, 515), (7, 1031), (0, 5000)], [(i, i + 20) for i in range(300)]],
)
def test_ranges(ranges):
    """Short and long ranges, and many, equal TensorBoard's function."""
    raw = np.frombuffer(DATA, np.uint8)
    starts, ends = np.array(ranges).T

    assert crc32c.masked_ranges(raw, starts, ends).tolist() == [int(masked_crc32c(DATA[a:b])) for a, b in ranges]


def test_ranges_in_a_row():
    """Sorted ranges with small spaces between."""
    ranges = [(0, 30), (34, 100), (116, 500)]
    raw = np.frombuffer(DATA, np.uint8)
    starts, ends = np.array(ranges).T

    assert crc32c.masked_in_row(raw, starts, ends).tolist() == [int(masked_crc32c(DATA[a:b])) for a, b in ranges]


def test_states_in_any_order():
    """Bytes are added column by column; bytes that were not added are zero."""
    texts = [b"ab\0d", b"abcde"]
    states = crc32c.States(np.array([4, 5]))
    states.add(np.array([[ord("d")], [ord("d")]], np.uint8), 3)
    states.add(np.array([list(b"ab")] * 2, np.uint8), 0)
    states.add(np.array([[0], [ord("c")]], np.uint8), 2)
    states.add(np.array([[9], [ord("e")]], np.uint8), 4, np.array([False, True]))

    assert states.masked(np.zeros(2, np.uint32)).tolist() == [int(masked_crc32c(text)) for text in texts]
