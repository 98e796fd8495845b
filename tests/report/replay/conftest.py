"""A replay built by hand."""

from dataclasses import replace

import pytest

from loganalyst.model import Experiment, Hypothesis, Measured, Replay

NAN = float("nan")


@pytest.fixture
def found(failed) -> Replay:
    run = Measured("mends", "loss 3 against 9", True, {}, {"as it was": [1, 2, NAN], "lr / 2": [1, 0.9, 0.8]}, 655)
    means = {"mends": "the rate", "no": "else"}
    experiment = Experiment("halve", "Does it help?", means, "mends", "3 to 9", (run,), {"a": 2, "b": -1})
    hypotheses = (
        Hypothesis("a", "l", "Rate | too high", 0.5, 0.9, "high", "confirmed"),
        Hypothesis("b", "l", "Bad data", 0.4, 0.05, "low", "refuted"),
    )
    whole = Replay(failed, failed, "decided", "done", hypotheses, (experiment,), "train:main")
    return replace(whole, onset=657, device="cpu", seconds=3.0)
