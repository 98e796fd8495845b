"""What the frames of a stack mean (`rules/stacks.yaml`)."""

from functools import cache

from loganalyst.rulefiles import Shape, Text, Texts, ours


class Doing(Shape, frozen=True):
    """One entry: what a process does in `frames`, where it is then, and whether it waits for others there."""

    place: Text
    frames: Texts
    waits: bool = False
    helper: bool = False


@cache
def doings() -> dict[str, Doing]:
    """The entries of `rules/stacks.yaml` by name."""
    return ours("stacks.yaml", dict[str, Doing])
