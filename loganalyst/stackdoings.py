"""What the frames of a stack mean (`rules/stacks.yaml`)."""

from functools import cache

from loganalyst.rulefiles import Shape, Text, Texts, ours


class Doing(Shape, frozen=True):
    """One entry: what a process does in `frames`, where it is then, and whether it waits for others there.

    `means`: calls wait by it, and the call counts. `held`: a process may stay there for ever.
    """

    place: Text
    frames: Texts
    waits: bool = False
    helper: bool = False
    means: bool = False
    held: bool = False


@cache
def doings() -> dict[str, Doing]:
    """The entries of `rules/stacks.yaml` by name."""
    return ours("stacks.yaml", dict[str, Doing])
