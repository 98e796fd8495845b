"""A training looked at twice: at its checkpoint, and after the replayed steps, before any loss that is not finite."""

from collections.abc import Iterator
from dataclasses import dataclass

from loganalyst.replaying.bench import Bench


@dataclass(frozen=True)
class Stage:
    """Where it is looked at: in words, and the training's step that comes next."""

    name: str
    step: int


def stages(bench: Bench, seed: int) -> Iterator[Stage]:
    """Both in turn; the bench is as it is there while one is yielded. Of a replay without a whole step the first."""
    bench.level()  # it finds out what memory has room for
    bench.fresh(seed)
    yield Stage("at the checkpoint", bench.start)
    unchanged = bench.unchanged(seed)
    steps = len(unchanged.losses) - (2 if unchanged.nonfinite is not None else 0)
    if steps > 0:
        bench.train(seed, steps=steps)
        yield Stage(f"after {steps} steps", bench.start + steps)
