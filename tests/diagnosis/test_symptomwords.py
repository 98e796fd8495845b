"""Words and numbers of a user's report."""

import pytest

from loganalyst.diagnosis.symptomwords import Numbers, all_words, distinguishing_words, numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("loss spikes every ~1000 steps", Numbers(period=1000.0)),
        ("at step 5k it diverges", Numbers(step=5000.0)),
        ("NaN after 3 epochs", Numbers(epoch=3.0)),
        ("the 7th epoch", Numbers(epoch=7.0)),
        ("a spike once per epoch, from step 1,200 on", Numbers(step=1200.0, period_epochs=1.0)),
        ("every 2 epochs", Numbers(period_epochs=2.0)),
        ("it got slow", Numbers()),
    ],
)
def test_numbers_are_places_and_distances(text: str, found: Numbers) -> None:
    """With units of steps or epochs, thousands as `k` or with a comma."""
    assert numbers(text) == found


def test_forms_of_a_word_are_one_word() -> None:
    """Endings and synonyms are the same stem; a negation is `not`; a number is no word."""
    assert all_words("diverged") == all_words("diverges") == all_words("divergence")
    assert all_words("validation lr") == all_words("held rate")
    assert "not" in all_words("the loss doesn't fall")
    assert all_words("at 5k of 5kg") == all_words("at of kg")


def test_common_words_distinguish_nothing() -> None:
    """Only the others are left."""
    assert distinguishing_words("the whole training with a spike") == all_words("spike")
