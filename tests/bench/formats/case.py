"""What a format brings to the benchmark: a writer of inputs, peers that read them, and how such a file grows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Columns = tuple[Any, Any, Any]  # metric, step, value of every point, in file order within a metric
# The timed part, from the path to the numbers in memory; what it returns gives the columns, outside the time.
Take = Callable[[Path], Callable[[], Columns]]
METRICS = ("train/loss", "train/lr", "train/grad_norm", "val/loss", "val/accuracy")


@dataclass(frozen=True)
class Case:
    """One input and who reads it.

    `write(folder, rows, metrics)` logs so many steps of so many metrics by the real writer and returns the file.
    Each of `peers` loads its modules, untimed, and returns what reads a path. `scale` is (rows, metrics) of the big
    input; `loops` how often one process reads the file (the figures are for one reading). `grow(seed, path, size)`
    writes a file of at least `size` bytes that holds the rows of `seed` again and again (None: not measured).
    """

    name: str
    write: Callable[[Path, int, int], Path]
    peers: tuple[Callable[[], Take], ...] = ()
    scale: tuple[int, int] | None = None
    loops: int = 1
    grow: Callable[[Path, Path, int], None] | None = None


def values(step: int, metrics: int = len(METRICS)) -> dict[str, float]:
    """What is logged at `step`."""
    x = step / 1000
    wave = math.sin(step * 12.9898) * 0.01
    numbers = (2 * math.exp(-x) + 0.3 + wave, 1e-3 / (1 + x), 1 + wave * 7, 2 * math.exp(-x) + 0.4 - wave, 0.5 + wave)
    named = dict(zip(METRICS, numbers, strict=True))
    more = {f"layer{i}/grad_norm": 1 + wave * i for i in range(metrics - len(METRICS))}
    return dict(list((named | more).items())[:metrics])


def transposed(events: list[tuple[str, int, float]]) -> Columns:
    """Points as columns."""
    return tuple(zip(*events, strict=True)) if events else ([], [], [])  # type: ignore[return-value]


def grow_lines(seed: Path, path: Path, size: int, header: int = 0) -> None:
    """Repeat the lines of `seed` behind its first `header` lines."""
    lines = seed.read_bytes().splitlines(keepends=True)
    body = b"".join(lines[header:])
    with path.open("wb") as file:
        file.write(b"".join(lines[:header]))
        for _ in range(size // len(body) + 1):
            file.write(body)
