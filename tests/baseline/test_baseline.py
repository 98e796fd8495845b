"""Recorded runs beside one another: the same training with a rate three times as high, and others."""

import json
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst.report.diagnosis.schema import schema

RUNS = Path(__file__).parents[2] / "fixtures/runs"


@pytest.fixture(scope="module")
def found():
    return la.diagnose(RUNS / "divergence-lr", baseline=RUNS / "healthy-mended-rate")


def test_the_one_change_is_found_and_named(found):
    b = found.baseline

    assert [(c.key, c.before, c.after, c.way) for c in b.changes] == [("lr", "0.016666666666666666", "0.05", "up")]
    assert (b.suspect.change.key, b.suspect.basis) == ("lr", "named")
    assert "Learning rate too high" in b.suspect.why


def test_the_curves_part_for_the_worse_around_where_the_loss_leaves_its_trend(found):
    """The truth says that the loss never comes back from step 317 on."""
    loss = next(p for p in found.baseline.parted if p.metric == "loss")

    assert (loss.direction, loss.final_direction) == ("better", "worse")  # a high rate learns faster at first
    assert 260 <= loss.final_step <= 330
    assert (loss.ours, loss.theirs) == (pytest.approx(2.3, abs=0.02), pytest.approx(0.32, abs=0.05))


def test_a_run_beside_itself_differs_in_nothing():
    b = la.diagnose(RUNS / "divergence-lr", baseline=RUNS / "divergence-lr").baseline

    assert (b.changes, b.parted, b.suspect) == ((), (), None)
    assert b.unknown == "nothing that both runs logged differs"
    assert len(b.together) == 5


def test_a_run_without_settings_says_so():
    """A change that a metric shows is told all the same."""
    b = la.diagnose(RUNS / "healthy-mended-rate", baseline=RUNS / "overfitting").baseline

    assert ([(c.key, c.way) for c in b.changes], b.not_logged) == ([("learning_rate", "up")], ("the baseline",))


def test_the_diagnosis_is_the_same_with_and_without(found):
    alone = la.diagnose(RUNS / "divergence-lr")

    assert [(c.id, c.confidence) for c in found.causes] == [(c.id, c.confidence) for c in alone.causes]
    assert alone.baseline is None


def test_the_json_fits_its_schema(found):
    data = json.loads(found.to_json())

    jsonschema.validate(data, schema())
    assert data["baseline"]["suspect"]["key"] == "lr"
    assert data["baseline"]["parted"][0]["direction"] == "worse"


def test_markdown_and_html_tell_it_too(found):
    assert "## Against the baseline" in found.to_markdown()
    assert "lr 0.01667 → 0.05: most likely responsible" in found.to_markdown()
    assert "lr 0.01667 → 0.05: most likely responsible" in found.to_html()


def test_metrics_that_turn_for_the_worse_come_first(found):
    """Goals before what only goes up or down; of the worse ones the first."""
    turned = [(p.metric, "worse" in (p.direction, p.final_direction)) for p in found.baseline.parted]

    assert turned[:3] == [("val_loss", True), ("loss", True), ("val_acc", True)]
    assert {m for m, worse in turned if not worse} == {"learning_rate", "grad_norm"}
