"""Which name the lines of a log use most."""

import polars as pl

from loganalyst.features.namedinlogs import commonest

WORDS = {"lsf": ["bsub"], "slurm": ["srun", "sbatch"]}


def test_the_name_with_words_in_most_lines() -> None:
    """A line counts once, however many words it has; the first of equal names wins; no word, no name."""
    assert commonest(pl.Series(["srun sbatch", "bsub", "bsub"]), WORDS) == "lsf"
    assert commonest(pl.Series(["srun", "bsub"]), WORDS) == "lsf"
    assert commonest(pl.Series(["python"]), WORDS) is None
