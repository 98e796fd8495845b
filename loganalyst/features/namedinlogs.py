"""Which of several programs or devices the lines of a job log name, by words of each."""

from collections.abc import Iterable, Mapping

import polars as pl


def commonest(texts: pl.Series, words: Mapping[str, Iterable[str]]) -> str | None:
    """The name whose words are in most texts; None if there are none.

    >>> commonest(pl.Series(["srun: error", "bsub: ok", "srun: done"]), {"lsf": ["bsub"], "slurm": ["srun", "sbatch"]})
    'slurm'
    """
    counts = {name: int(texts.str.contains_any(list(own)).sum()) for name, own in words.items()}
    found = max(counts, key=lambda name: counts[name])
    return found if counts[found] else None
