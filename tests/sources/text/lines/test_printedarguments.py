"""Arguments and SLURM variables that a program prints at its start."""

import polars as pl

from loganalyst.sources.text.lines.printedarguments import arguments


def test_calls_and_variables_become_settings() -> None:
    """A variable counts once, with its first value; a call that is cut off gives nothing."""
    lines = ["[rank0]: Namespace(lr=0.1, f=None)", 'declare -x SLURM_NNODES="2"', "SLURM_NNODES=3", "Namespace(lr="]

    assert arguments(pl.Series(lines), "a.log").rows() == [
        ("lr", "0.1", 0.1, "a.log"),
        ("f", "None", None, "a.log"),
        ("SLURM_NNODES", "2", 2.0, "a.log"),
    ]


def test_no_lines_give_no_settings() -> None:
    assert arguments(pl.Series([], dtype=pl.String), "a.log").height == 0
