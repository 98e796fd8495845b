"""Results of experiments, checked and turned into verdicts."""

import pytest

import loganalyst as la
from loganalyst.errors import ReplayError
from loganalyst.pipeline import catalogue
from loganalyst.replaying import verdicts
from loganalyst.replaying.experiment import INCONCLUSIVE


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "never stated"},
        {"text": 3},
        {"reproduced": "yes"},
        {"values": [1]},
        {"values": {"a": [1]}},
        {"series": {"a": ["x"]}},
        {"series": {"a": [0.0] * 6_000}},
        {"start": 1.5},
    ],
)
def test_an_invalid_result_is_refused(change):
    sound = {"outcome": "stayed", "text": "", "reproduced": None, "values": {}, "series": {}, "start": 0}

    assert verdicts.checked_measurement(sound, ["stayed"]).outcome == "stayed"
    with pytest.raises(ReplayError, match="returned an invalid result"):
        verdicts.checked_measurement({**sound, **change}, ["stayed"])


@pytest.mark.parametrize(
    ("outcomes", "agreed"), [(["a"], None), (["a", "b"], None), (["a", "b", "a"], "a"), ([], None)]
)
def test_two_runs_with_one_outcome_agree(outcomes, agreed):
    runs = [la.model.Measured(outcome, "") for outcome in outcomes]

    assert verdicts.agreed_outcome(runs) == agreed


def test_disagreeing_runs_are_inconclusive_and_a_single_run_decides():
    stated = catalogue().experiments["lr_counterfactual"]
    runs = [la.model.Measured(outcome, outcome) for outcome in ("stayed", "vanished")]

    assert verdicts.conclude(stated, runs[:1]).outcome == "stayed"
    assert (verdicts.conclude(stated, runs).outcome, verdicts.conclude(stated, runs).text) == (
        INCONCLUSIVE, "its runs disagree"
    )  # fmt: skip
