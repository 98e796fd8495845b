"""The two stages at which experiments measure: at the checkpoint, and after the replayed steps while the loss is
finite.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from loganalyst.replaying.bench import Bench


@dataclass(frozen=True)
class Stage:
    """A stage: its name, and the training's next step."""

    name: str
    step: int


def stages(bench: Bench, seed: int) -> Iterator[Stage]:
    """Both stages in turn; the bench is in that state while one is yielded. Without a whole step there is only the
    first.
    """
    bench.level()  # finds out how far batches must be split
    bench.restore(seed)
    yield Stage("at the checkpoint", bench.start)
    unchanged = bench.unchanged(seed)
    steps = len(unchanged.losses) - (2 if unchanged.nonfinite is not None else 0)
    if steps > 0:
        bench.train(seed, steps=steps)
        yield Stage(f"after {steps} steps", bench.start + steps)
