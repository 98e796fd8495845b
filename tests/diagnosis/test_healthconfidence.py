"""How sure "healthy" is."""

from dataclasses import replace
from pathlib import Path

import pytest

from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.healthconfidence import faultless, healthy
from loganalyst.diagnosis.logodds import CAP, logit, sigmoid
from loganalyst.diagnosis.rule import NoteRule
from tests.diagnosis.smallcatalogues import TEXT, YES, answers, catalogue_of, item, rule

UNSEEN = 0.05  # of rules/verdicts.yaml


def test_healthy_counts_faults_that_could_be_seen() -> None:
    """A fault looked for hides rarely; a core one not looked for hides with its prior; others do not count."""
    asked = rule("asked", 0.2, item("a", 1.0, -1.0), symptoms=("s",))
    core = rule("core", 0.1, item("a", 1.0, -1.0), symptoms=("c",))
    foreign = rule("foreign", 0.3, item("a", 1.0, -1.0), symptoms=("f",))
    benign = rule("fine", 0.5, item("a", 1.0, -1.0), label="healthy")
    catalogue = catalogue_of(asked, core, foreign, benign, core=("c",))
    given_ = answers({"s": False, "c": None, "f": None}, dict.fromkeys(catalogue.rules, (None,)))
    found = faultless(catalogue, given_, confidence.judge(catalogue, given_))

    assert found == pytest.approx((1 - UNSEEN * 0.2) * (1 - 0.1))
    settled = replace(given_, symptoms={"s": False, "c": False, "f": False})
    assert faultless(catalogue, settled, confidence.judge(catalogue, settled)) > found


def test_doubting_notes_lower_the_probability_of_healthy() -> None:
    """A note lowers the log-odds by its doubt if it is shown."""
    base = catalogue_of(rule("a", 0.2, item("a", 1.0, -1.0)))
    catalogue = replace(base, notes={"n": NoteRule("n", "n", YES, TEXT, TEXT, (), Path("notes.yaml"), doubt=2.0)})
    given_ = answers({"s": False}, {"a": (None,)})
    judged_ = confidence.judge(catalogue, given_)
    shown, hidden, unknown = (
        faultless(catalogue, replace(given_, notes={"n": holds}), judged_) for holds in (True, False, None)
    )

    assert hidden == unknown == pytest.approx(1 - UNSEEN * 0.2)
    assert shown == pytest.approx(sigmoid(logit(1 - UNSEEN * 0.2) - 2.0))


@pytest.mark.parametrize(
    ("kind", "training", "most"), [("training", None, 0.88), ("training", "graph", 1.0), ("job", None, 1.0)]
)
def test_a_training_of_unknown_kind_is_healthy_with_bounded_confidence(
    kind: str, training: str | None, most: float
) -> None:
    """Nobody knows what such a run should show."""
    given_ = replace(answers({}, {}), values={"run_kind": kind, "training_kind": training})

    assert healthy(CAP, catalogue_of(), given_) == pytest.approx(most, abs=0.01)


@pytest.mark.parametrize(("kind", "points", "most"), [("training", 10, 0.9), ("training", 1000, 1.0), ("job", 10, 1.0)])
def test_few_points_bound_the_confidence_of_healthy(kind: str, points: int, most: float) -> None:
    """Ten points give at most 90 %; a job log has no curve to count."""
    given_ = replace(answers({}, {}), values={"run_kind": kind, "training_kind": "graph", "run_longest_metric": points})

    assert healthy(CAP, catalogue_of(), given_) == pytest.approx(most, abs=0.01)
