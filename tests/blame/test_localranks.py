"""Numbers of devices that are no ranks."""

import polars as pl

from loganalyst.blame.localranks import without_local_ranks
from tests.blame.blamelines import rows

WARN = {
    "pattern": "nccl-warn",
    "part": "root",
    "label": "nccl_error",
    "rank": 5,
    "node": "n1",
    "text": "n1:77:345 [5] ibv.cc NCCL WARN failed",
}


def rank(lines: pl.DataFrame) -> int | None:
    return without_local_ranks(lines.filter(row=0), lines)["rank"].item()  # type: ignore[no-any-return]


def test_on_one_node_the_device_is_the_rank() -> None:
    assert rank(rows(WARN, {"rank": 5, "text": "[rank5]: RuntimeError"})) == 5


def test_on_several_nodes_it_is_not() -> None:
    """Two nodes are named, or a rank is too large for one."""
    assert (
        rank(rows(WARN, {"pattern": "nccl-warn", "rank": 2, "node": "n2", "text": "n2:9:11 [2] x.cc NCCL WARN failed"}))
        is None
    )
    assert rank(rows(WARN, {"rank": 21, "text": "[rank21]: RuntimeError"})) is None
    assert rank(rows(WARN, {"rank": 9, "text": "[rank9]: RuntimeError"})) is None
    many = {"pattern": "nccl-warn", "rank": 9, "node": "n1", "text": "n1:77:399 [9] x.cc NCCL WARN failed"}
    assert rank(rows(WARN, many, {"rank": 9, "text": "[rank9]: RuntimeError"})) == 5  # a node with 16 devices


def test_a_rank_by_its_mark_stays() -> None:
    marked = WARN | {"text": "[rank5]: ncclSystemError"}

    assert rank(rows(marked, {"rank": 13, "text": "[rank13]: RuntimeError"})) == 5
