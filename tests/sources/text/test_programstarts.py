"""Starts that ended at their imports."""

from pathlib import Path

import pytest

from loganalyst.sources.text.sizes import Sizes
from tests.sources.text.startlogs import read, started

TRAINED = "step 1 loss 0.5\nstep 2 loss 0.4\n"


def missing(module: str, line: int, script: str = "train.py") -> str:
    """The traceback of an import at the top of a script."""
    return (
        f'Traceback (most recent call last):\n  File "{script}", line {line}, in <module>\n    import {module}\n'
        f"ModuleNotFoundError: No module named '{module}'\n"
    )


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (missing("einops", 3) + TRAINED, [1, 5]),  # whoever trains has imported everything
        (missing("einops", 3) + "step 1 loss 0.5\n", [1]),
        (missing("einops", 101) + TRAINED, [1]),  # at the end of a script that trained
        (missing("einops", 3) + missing("optuna", 5), [1, 5]),  # repaired, and came farther
        (missing("einops", 5) + missing("optuna", 3), [1]),
        (missing("einops", 3, "prepare.py") + missing("optuna", 5), [1]),  # another script of the same job
        ("".join(f"[rank0]: {line}\n" for line in missing("einops", 3).splitlines()) + TRAINED, [1]),
    ],
)
def test_a_start_that_ended_at_its_imports(log: Path, text: str, starts: list[int]) -> None:
    """In one batch and in many."""
    assert started(read(log, text)) == starts
    assert started(read(log, text, Sizes(batch=64, cache=64))) == starts
