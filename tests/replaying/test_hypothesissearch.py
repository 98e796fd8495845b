"""The order of tests, and the end of a search."""

import re
from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.replaying import hypothesissearch
from tests.replaying.searches import Answers, hypothesis, searched


def test_seeds_repeat_until_two_agree(runs):
    found, asked = searched(runs("rate_too_high"), {"lr_counterfactual": ["stayed", "vanished", "vanished"]})

    assert [seed for name, seed in asked if name == "lr_counterfactual"] == [0, 1, 2]
    assert found.experiments[0].outcome == "vanished"
    assert [seed for name, seed in asked if name == "first_nonfinite"] == [0, 1]


def test_runs_that_never_agree_decide_nothing(runs):
    found, _ = searched(runs("rate_too_high"), {"lr_counterfactual": ["stayed", "vanished", "inconclusive"]})

    assert found.experiments[0].outcome == "inconclusive"
    assert found.experiments[0].weights == {}


def test_three_refuted_hypotheses_end_the_search(runs):
    found, _ = searched(
        runs("rate_too_high"),
        {"lr_counterfactual": ["stayed"], "first_nonfinite": ["operation"], "clipping_counterfactual": ["stayed"]},
    )

    assert found.ended == "three_refuted"
    assert sum(h.verdict == "refuted" for h in found.hypotheses) >= 3
    assert found.learned
    assert found.next_steps
    assert hypothesis(found, "lr-too-high").after < hypothesis(found, "lr-too-high").before


def test_one_cause_alone_is_tested(runs):
    found, asked = searched(runs("rate_too_high"), {}, cause="fp16-overflow")

    assert {name for name, _ in asked} == {"first_nonfinite", "precision_counterfactual"}
    assert found.ended == "all_tried"


def own_rule(folder, replay):
    """A rule of one's own like `lr-too-high`, under a label that no experiment has weights for."""
    text = (Path(__file__).parents[2] / "rules/optimisation/lr-too-high.yaml").read_text()
    named = re.sub(r"(?m)^replay: .*$", f"replay: {replay}", text.replace("id: lr-too-high", "id: my-rate"))
    (folder / "optimisation").mkdir(parents=True)
    (folder / "optimisation/my-rate.yaml").write_text(named.replace("label: lr_too_high", "label: other"))
    return folder


@pytest.mark.parametrize(
    ("replay", "problem_text"),
    [
        ("[lr_counterfactua]", "replay names 'lr_counterfactua'; did you mean 'lr_counterfactual'?"),
        ("[lr_counterfactual]", "no outcome of 'lr_counterfactual' has a weight for this rule"),
        ("{lr_counterfactual: {vanish: 2.0}}", "lr_counterfactual has no outcome 'vanish'; did you mean 'vanished'?"),
        ("{lr_counterfactual: {vanished: high}}", "vanished is 'high'; a number from"),
        ("{lr_counterfactual: [vanished]}", "lr_counterfactual is a list; a mapping"),
    ],
)
def test_a_faulty_replay_field_of_a_rule_is_reported(tmp_path, replay, problem_text):
    folder = own_rule(tmp_path, replay)

    catalogue = la.pipeline.catalogue((folder,))

    assert any(problem_text in problem for problem in catalogue.problems), catalogue.problems
    assert "my-rate" not in catalogue.rules


def test_a_rule_of_ones_own_brings_its_own_weights(tmp_path, runs):
    folder = own_rule(tmp_path, "{lr_counterfactual: {vanished: 2.5, stayed: -3.0}}")
    made = hypothesissearch.Search(la.diagnose(runs("rate_too_high"), rules=(folder,)), None, (folder,), "my-rate")

    found = made.result(*made.run(Answers({"lr_counterfactual": ["stayed"]})))

    assert hypothesis(found, "my-rate").verdict == "refuted"
    assert found.experiments[0].weights["my-rate"] == -3.0


def test_weights_for_an_unknown_rule_are_reported(tmp_path):
    """In the package's own folder such a fault stops everything."""
    outcome = "{means: x, weights: {lr-to-high: 1.0, lr_too_high: 1.0}}"
    (tmp_path / "replay.yaml").write_text(f"my_experiment: {{question: x, outcomes: {{found: {outcome}}}}}\n")

    (problem_text,) = la.pipeline.catalogue((tmp_path,)).problems

    assert problem_text.endswith("replay.yaml:1: weights name 'lr-to-high'; did you mean 'lr-too-high'?")


def test_a_confirmed_cause_is_reported_once_the_next_three_are_refuted(runs):
    """The logs speak against the cause, so its confidence alone does not end the search."""
    found, _ = searched(
        runs("bad_batch"),
        {"first_nonfinite": ["division"], "lr_counterfactual": ["stayed"], "clipping_counterfactual": ["stayed"]},
    )

    assert (found.ended, hypothesis(found, "log-of-zero").verdict) == ("decided", "confirmed")
    assert found.why.startswith("Logarithm of zero or division by zero in the loss is confirmed")
    assert found.next_steps == ()
