"""After a cause is confirmed, its rivals are tested with the experiments that may refute most of them."""

import pytest

import loganalyst as la
from fixtures.replays import cases
from fixtures.replays.training import trained
from loganalyst.replaying import hypothesissearch, replayprocess, rivalexperiments
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import decay_counterfactual, gradient_norms, loss_components, warmup_restart
from tests.replaying.searches import Answers, hypothesis, searched

TOO_HIGH = {"lr_counterfactual": ["vanished"], "first_nonfinite": ["ran_up"], "sharpness": ["beyond"]}


def test_without_a_rival_no_experiment_is_left(runs):
    search = hypothesissearch.Search(la.diagnose(runs("rate_too_high")), None, (), None)
    (found, *_) = search.every.values()

    assert rivalexperiments.most_decisive(found, {found.rule.id: found}, [], search.stated) is None


def test_rivals_of_a_confirmed_cause_are_tested(runs):
    found, asked = searched(runs("rate_too_high"), {**TOO_HIGH, "batch_swap": ["stayed"], "warmup_restart": ["stayed"]})

    made = list(dict.fromkeys(name for name, _ in asked))
    assert made[:3] == list(TOO_HIGH)  # what its own rule names
    assert made[3:5] == ["batch_swap", "warmup_restart"]
    assert found.ended == "decided"
    assert found.why == "Learning rate jumped up in the middle of the run is confirmed"
    assert hypothesis(found, "distribution-shift").verdict == "refuted"


def test_the_number_of_decisive_experiments_against_rivals_is_limited(runs):
    """Inconclusive ones do not count."""
    outcomes = {**TOO_HIGH, "batch_swap": ["inconclusive"], "warmup_restart": ["stayed"]}

    found, _ = searched(runs("rate_too_high"), outcomes, max_rival_experiments=1)

    outcomes = [e.outcome for e in found.experiments if e.name not in TOO_HIGH]
    assert outcomes[-1] != INCONCLUSIVE
    assert set(outcomes[:-1]) <= {INCONCLUSIVE}


def test_a_cause_stays_confirmed_if_time_runs_out_before_its_rivals(runs):
    class Ended(Answers):
        def __call__(self, name, *rest):
            if name == "batch_swap":
                raise replayprocess.EndedError("train.py", "did not end within the budget of 1 s")
            return super().__call__(name, *rest)

    made = hypothesissearch.Search(la.diagnose(runs("rate_too_high")), None, (), None)
    ended, why = made.run(Ended(TOO_HIGH))

    assert ended == "decided"
    confirmed = "Learning rate jumped up in the middle of the run is confirmed"
    assert why.startswith(f"{confirmed}; not all its rivals were tested: ")
    assert "did not end within the budget" in why


@pytest.mark.parametrize(("warmed", "cause"), [("vanished", "warmup-missing"), ("stayed", "lr-too-high")])
def test_a_rival_that_all_experiments_support_may_replace_the_cause(tmp_path, warmed, cause):
    """Only a warm-up distinguishes a missing warm-up from a rate that is always too high."""
    run = trained(tmp_path, cases.first_steps_too_long())

    found, _ = searched(run, {**TOO_HIGH, "clipping_counterfactual": ["vanished"], "warmup_restart": [warmed]})

    assert (found.ended, found.after.causes[0].id) == ("decided", cause)
    assert hypothesis(found, cause).verdict == "confirmed"


def test_rivals_share_the_weight_of_experiments(tmp_path):
    """The logs do not state the batch size, so they cannot show whether the rate fits it."""
    found, _ = searched(trained(tmp_path, cases.loss_summed()), {**TOO_HIGH, "batch_swap": ["stayed"]})

    misfit = hypothesis(found, "batch-rate-mismatch")
    assert (misfit.verdict, misfit.after < 0.1) == ("open", True)
    assert hypothesis(found, "lr-too-high").verdict == "confirmed"


@pytest.mark.parametrize(
    ("case", "start", "experiment", "outcome"),
    [
        ("weight_grows", 100, loss_components, "drowned"),
        ("optimiser_forgotten", 75, warmup_restart, "brought"),
        ("first_steps_too_long", 0, warmup_restart, "vanished"),
        ("loss_summed", 0, warmup_restart, "stayed"),
        ("decay_too_high", 50, decay_counterfactual, "falls"),
        ("encoder_detached", 50, gradient_norms, "still"),
    ],
)
def test_the_experiment_that_confirms_a_case(run, case, start, experiment, outcome):
    """The whole replay of each is tests/bench/replay_verdicts.py."""
    assert run(experiment, cases.CASES[case].entry(), start=start, steps=20).outcome == outcome


def test_a_restarted_training_repeats_its_header(tmp_path):
    """Its steps go back to the checkpoint, of which it has the weights and not the optimiser's memory."""
    made = cases.optimiser_forgotten()
    lines = (trained(tmp_path, made, steps=32, ended=30) / "metrics.csv").read_text().splitlines()

    steps = [line.partition(",")[0] for line in lines]
    assert steps == ["step", *map(str, range(30)), "step", *map(str, range(25, 32))]
    assert {int(state["step"]) for state in made.optimizer.state.values()} == {7}
    assert lines[26].split(",")[1] == lines[32].split(",")[1]  # the loss of step 25, by the same weights
