"""Equal runs are judged once: for tests of where rows lie, which judge the same few runs over and over."""

import pickle

from loganalyst import pipeline
from loganalyst.model import Diagnosis, Run

TRUE = pipeline.diagnose


class JudgedOnce:
    """Stands for `pipeline.diagnose`. A run that differs in any value of any table is another run, and is judged."""

    def __init__(self) -> None:
        self._known: dict[bytes, Diagnosis] = {}

    def __call__(self, run: Run) -> Diagnosis:
        assert not run.settings, "what a loganalyst.yaml says is not among the values that are compared"
        content = pickle.dumps(run)
        if content not in self._known:
            self._known[content] = TRUE(run)
        return self._known[content]
