"""The position of a line: its epoch, and its step or its batch."""

import re
from collections.abc import Mapping

from loganalyst.sources.text.lines.numberwords import BAR, EPOCH, NOT_POSITION, RANK, SLOT, STEP, STRONG
from loganalyst.sources.text.metrics.epochbatchpairs import pair_of
from loganalyst.sources.text.metrics.shapenumber import Number

_EPOCH_AND_BATCH = re.compile(pair_of(SLOT))  # `[3/30][450/500]`, with a slot for each number


def mark_positions(numbers: list[Number], shape: str) -> None:
    """Mark the epoch, and the one step or counter that is the position of the line.

    Next to an exact counter a step may be rounded, as `global_step=1.23e+4` of Lightning is: then the counter counts.
    A plain `step` is an integer of the program, and counts.
    """
    totals = {n.index - 1: n for n in numbers if n.role == "total"}
    epochs, steps = _candidates(numbers, totals)
    if not epochs and len(pair := _epoch_and_batch(numbers, shape)) == 2:
        epochs, steps = pair[:1], [(len(RANK), pair[1])]
    steps = _without_lengths(steps)
    steps.sort(key=lambda s: (s[1].plain != "step", -s[0]) if BAR in shape else (False, s[0]))
    for n in (*(n for _, n in steps[1:]), *epochs[1:]):
        n.drop()
    for n in epochs[:1]:
        n.role = "epoch"
    for rank, n in steps[:1]:
        n.role = "step" if rank < len(RANK) and n.index not in totals else "batch"
    for index, total in totals.items():
        if not steps or steps[0][1].index != index:
            total.role = None


def _candidates(numbers: list[Number], totals: Mapping[int, Number]) -> tuple[list[Number], list[tuple[int, Number]]]:
    """The numbers that can be epochs, and those that can be steps, each with its rank; the lowest rank counts."""
    epochs, steps = [], []
    for n in numbers:
        is_position = not n.role and not NOT_POSITION.search(n.plain)
        if is_position and (EPOCH.match(n.plain) or _counts_epochs(n, len(numbers))):
            epochs.append(n)
        elif (rank := _rank(n, totals, is_position=is_position)) is not None:
            steps.append((rank, n))
    return epochs, steps


def _counts_epochs(n: Number, count: int) -> bool:
    """Whether `epochs` opens a line of several numbers (`Epochs     3. Current error: 0.5`).

    `epochs=30 lr=0.1` is a plan.
    """
    return n.plain == "epochs" and n.index == 0 and count > 1 and not n.separated


def _rank(n: Number, totals: Mapping[int, Number], *, is_position: bool) -> int | None:
    """The place of a number among possible steps; None: it is none."""
    is_result = n.separated and STRONG.search(n.plain)  # `loss_G_generation: 0.5`
    step = STEP.match(n.plain) if is_position and not is_result else None
    name = step[1] if step else n.plain
    if step or name == "[" or (name == "s" and n.separated and n.index == 0):
        return RANK.index(name) if name in RANK else len(RANK)
    is_counter = is_position and n.index in totals and not n.plain and n.index + 1 not in totals
    return len(RANK) + 1 if is_counter else None


def _without_lengths(steps: list[tuple[int, Number]]) -> list[tuple[int, Number]]:
    """The steps without those that an episode took, perhaps one of a hundred that the line summarises."""
    of_episode = any(n.plain == "episode" for _, n in steps)
    return [(rank, n) for rank, n in steps if not (of_episode and n.plain == "steps")]


def _epoch_and_batch(numbers: list[Number], shape: str) -> list[Number]:
    """The epoch and the batch of `[3/30][450/500] loss 0.5`, which no word names."""
    found = _EPOCH_AND_BATCH.search(shape)
    if not found:
        return []
    epoch = shape.count(SLOT, 0, found.start())
    return [n for n in numbers if n.index in (epoch, epoch + 2)]
