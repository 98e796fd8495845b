"""What a healthy run does in place of a symptom."""

from loganalyst import pipeline
from loganalyst.diagnosis.expectedbehaviour import expected, texts
from loganalyst.diagnosis.texttemplate import template

DECLARED = pipeline.catalogue().declared


def test_every_symptom_has_a_text_that_names_features() -> None:
    """A wrong name would raise."""
    known = pipeline.catalogue().symptoms

    assert set(texts()) == set(known)
    assert all(template(text, DECLARED) for several in texts().values() for text in several)


def test_the_text_has_the_values_of_the_run() -> None:
    """The first text whose values are known."""
    values = {"train_loss_metric": "loss", "train_loss_last": 0.45}

    assert expected("plateau", DECLARED, values) == "loss keeps falling below 0.45, or the task is solved there"
    assert expected("plateau", DECLARED, {}) == "the loss keeps falling, or the task is solved"


def test_a_symptom_without_text_has_none() -> None:
    """Those of a user's own rules, and those whose values are not known."""
    assert expected("mine", DECLARED, {}) == ""
    assert expected("divergence", DECLARED, {}) == ""
