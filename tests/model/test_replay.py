"""Experiments and whether they reproduced the fault."""

from loganalyst.model import Experiment, Measured


def test_a_run_with_the_outcome_says_whether_it_reproduced() -> None:
    """Runs with another outcome do not count."""
    runs = (Measured("stayed", "", reproduced=False), Measured("vanished", "", reproduced=True))

    assert Experiment("rate", "", {}, "vanished", "", runs).reproduced is True
    assert Experiment("rate", "", {}, "inconclusive", "", runs).reproduced is None
