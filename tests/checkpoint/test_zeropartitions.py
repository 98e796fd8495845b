"""Partitions of DeepSpeed's ZeRO, cut and joined."""

from pathlib import Path

import pytest
import torch

from loganalyst.checkpoint import zeropartitions
from loganalyst.errors import SourceError


def test_a_range_is_cut_across_tensors():
    pieces = zeropartitions.cut([torch.arange(3.0), torch.arange(3.0, 5.0), torch.arange(5.0, 9.0)], 2, 4, at=10)

    assert [(p.begin, p.shape) for p in pieces] == [((10,), (1,)), ((11,), (2,)), ((13,), (1,))]
    assert [value for p in pieces for block in p.raw() for value in block.tolist()] == [2.0, 3.0, 4.0, 5.0]


def test_pieces_of_another_length_than_the_shape_are_refused():
    pieces = zeropartitions.cut([torch.ones(5)], 0, 5)

    whole = zeropartitions.tensor(Path("x"), "w", (5, 1), pieces, "float32")
    assert [block.tolist() for block in whole.raw()] == [[1.0] * 5]
    with pytest.raises(SourceError, match="x: has 5 of the 6 elements of 'w'"):
        zeropartitions.tensor(Path("x"), "w", (2, 3), pieces, "float32")


def test_partitions_of_several_types_are_refused():
    assert zeropartitions.common_dtype(Path("x"), [torch.ones(1, dtype=torch.bfloat16)]) == "bfloat16"
    with pytest.raises(SourceError, match="has several types: bfloat16, float32"):
        zeropartitions.common_dtype(Path("x"), [torch.ones(1), torch.ones(1, dtype=torch.bfloat16)])
