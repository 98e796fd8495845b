"""The limits of time and memory of one item."""

import time

from loganalyst.limits import Limits
from loganalyst.processes.eachitem import each


def _greedy(item: str) -> str:
    if item == "slow":
        time.sleep(600)
    if item == "big":
        held = bytearray(512 << 20)
        held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
        time.sleep(600)
    return item


def _why(item: object, why: str) -> str:
    return f"{item} {why}"


def test_an_item_that_exceeds_its_limits_is_given_up() -> None:
    """One item that hangs and one that takes too much memory cost themselves only."""
    limits = Limits(seconds=20, memory=400 << 20)
    found = list(each(_greedy, ["a", "slow", "b", "big", "c"], 2, _why, limits))

    assert sorted(found) == [
        "a",
        "b",
        "big took more than 400 MiB of memory, and was given up",
        "c",
        "slow took longer than 20 s, and was given up",
    ]


def test_limits_hold_with_one_process() -> None:
    found = list(each(_greedy, ["a", "slow", "b"], 1, _why, Limits(seconds=0.5)))

    assert found == ["a", "slow took longer than 0.5 s, and was given up", "b"]
