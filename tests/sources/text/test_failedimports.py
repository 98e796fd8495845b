"""Exceptions that nothing caught, and failed imports."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader

TOP = '  File "train.py", line 3, in <module>\n    import einops\n'
MISSING = "ModuleNotFoundError: No module named 'einops'\n"
STEPS = "step 1 loss 0.5\nstep 2 loss 0.4\n"


@pytest.mark.parametrize(
    ("frames", "exception", "starts"),
    [
        (TOP, MISSING, 2),
        (TOP, "KeyError: 'a'\n", 1),  # no import
        (TOP + '  File "train.py", line 30, in main\n    import einops\n', MISSING, 1),  # in a function
        (TOP + '  File "models.py", line 1, in <module>\n    import einops\n', MISSING, 2),  # of a module it imports
    ],
)  # fmt: skip
def test_training_behind_a_failed_import_is_of_another_start(
    tmp_path: Path, frames: str, exception: str, starts: int
) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"Traceback (most recent call last):\n{frames}{exception}{STEPS}")
    assert Tables.concat(reader.read(log)).sessions.height == starts
