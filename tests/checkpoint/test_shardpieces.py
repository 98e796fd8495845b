"""Boxes of a tensor that several processes wrote, joined in row order."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.checkpoint.shardpieces import BlockReader, Piece, fill, joined


def test_blocks_are_read_in_chunks_of_any_length():
    reader = BlockReader(iter([np.arange(3), np.arange(3, 4), np.arange(4, 9)]), np.dtype(np.int64))

    assert [reader.next(n).tolist() for n in (2, 0, 4, 3)] == [[0, 1], [], [2, 3, 4, 5], [6, 7, 8]]


def test_overlapping_boxes_do_not_fill_a_shape():
    """Their sizes add up, but one element is covered twice and another never."""

    def box(begin, shape):
        return Piece(begin, shape, lambda: iter(()))

    assert fill((4,), [box((0,), (2,)), box((2,), (2,))])
    assert not fill((4,), [box((0,), (2,)), box((1,), (2,))])
    assert not fill((4,), [box((0,), (2,)), box((3,), (2,))])


@given(st.data())
def test_boxes_are_put_together_as_they_were_cut(data):
    """Any grid of boxes, in any order, gives the array again; one box less does not fill it."""
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    whole = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    pieces = [((0,) * len(shape), shape)]
    for axis in range(len(shape)):
        cuts = sorted({0, shape[axis], *data.draw(st.lists(st.integers(0, shape[axis]), max_size=2))})
        spans = list(pairwise(cuts))
        pieces = [
            ((*b[:axis], low, *b[axis + 1 :]), (*s[:axis], high - low, *s[axis + 1 :]))
            for b, s in pieces for low, high in spans
        ]  # fmt: skip

    def piece(begin, size):
        box = tuple(slice(b, b + n) for b, n in zip(begin, size, strict=True))
        return Piece(begin, size, lambda: iter([whole[box].reshape(-1)]))

    made = [piece(*p) for p in data.draw(st.permutations(pieces))]
    some = next(i for i, p in enumerate(made) if np.prod(p.shape))

    assert fill(shape, made)
    assert not fill(shape, made[:some] + made[some + 1 :])
    assert not fill(shape, [*made, made[some]])
    again = np.concatenate([block.copy() for block in joined(shape, made, whole.dtype)])
    np.testing.assert_array_equal(again, whole.reshape(-1))
