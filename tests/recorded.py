"""The diagnoses of recorded runs, for tests that only look at them: each run is judged once in a process."""

from functools import cache
from pathlib import Path

import loganalyst as la
from loganalyst.model import Diagnosis


@cache
def diagnosed(run: Path) -> Diagnosis:
    """The diagnosis of a run that no test changes. A test of what a diagnosis does makes its own."""
    return la.diagnose(run)
