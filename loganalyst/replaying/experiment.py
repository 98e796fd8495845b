"""Experiments: files of `experiments/` with `run(bench, seed) -> Measured`, named after their file.

Their questions, thresholds, and the weight of each outcome for each cause are in `rules/replay.yaml`, under the same
name.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from loganalyst.errors import ReplayError, nearest
from loganalyst.model import Measured

if TYPE_CHECKING:
    from loganalyst.replaying.bench import Bench

Run = Callable[["Bench", int], Measured]
PACKAGE = "loganalyst.replaying.experiments"
INCONCLUSIVE = "inconclusive"


def names() -> tuple[str, ...]:
    """The names of all experiments, found by scanning."""
    return tuple(found.name for found in iter_modules(import_module(PACKAGE).__path__))


def find(name: str) -> Run:
    """The function `run` of an experiment. Raises ReplayError for an unknown name, with the nearest."""
    if name not in names():
        raise ReplayError(name, "is not an experiment", nearest(name, names()) or ", ".join(names()))
    run: Run = import_module(f"{PACKAGE}.{name}").run
    return run
