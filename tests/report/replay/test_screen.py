"""A replay on a terminal."""

from dataclasses import replace

from loganalyst.report.replay import screen


def test_the_headline_says_what_was_decided(found):
    """Without a confirmed cause it says why there is none."""
    undecided = replace(found, hypotheses=(replace(found.hypotheses[0], verdict="open"), found.hypotheses[1]))

    assert screen.headline(found) == "Confirmed: Rate | too high (50 % → 90 %)"
    assert screen.headline(undecided) == "Not decided; 1 hypothesis is refuted"
    assert screen.headline(replace(undecided, ended="budget")) == "Not decided within the budget"
    assert screen.headline(replace(undecided, ended="failed")) == "Not decided: the replay failed"
    assert screen.headline(replace(undecided, ended="no_entry")) == "Inspected without the training's code"


def test_a_fault_without_a_step(found):
    """The first fact says whether the logs show the step of the fault."""
    assert next(screen.facts(found)) == ("From", "the training's start; the logs show the fault at step 657")
    assert next(screen.facts(replace(found, onset=None))) == (
        "From",
        "the training's start; the logs do not show the step of the fault",
    )


def test_an_experiment_shows_its_outcome_and_its_losses(found):
    """Bars share one scale, and a cross is a loss that is not finite."""
    text = screen.render(found)

    assert "  → mends        the rate" in text
    assert "  For        Rate | too high" in text
    assert "  Against    Bad data" in text
    assert "  as it was  ▃▆✗  1 → NaN" in text
    assert "  lr / 2     ▃▃▃  1 → 0.8" in text
