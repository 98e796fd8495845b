"""Which change comes first: by impact (severity, and how many of the symptoms) times confidence."""

from dataclasses import replace
from typing import Literal

from loganalyst.diagnosis.quickfixes import quick_fixes
from loganalyst.model import Cause, Fix, QuickFix, Symptom

SYMPTOMS = [Symptom(id_, id_, None, None, id_) for id_ in ("nan", "spikes")]


def cause(
    id_: str, severity: str, confidence: float, symptoms: tuple[str, ...], change: str | None = "change"
) -> Cause:
    band: Literal["low"] = "low"
    fix = (Fix(change, "less", "look"), Fix("another", "less", "look")) if change else ()
    return Cause(id_, "other", id_, severity, confidence, band, "likely", "", "", (), fix, symptoms=symptoms)


def test_impact_is_severity_times_the_share_of_symptoms() -> None:
    """A critical cause of all symptoms has impact 1, a warning that explains half of them a quarter."""
    whole, half = quick_fixes(
        [cause("a", "critical", 0.8, ("nan", "spikes")), cause("b", "warning", 0.8, ("nan",))], SYMPTOMS
    )

    assert whole == QuickFix("a", "change", "less", "critical", 1.0, 0.8)
    assert (half.impact, half.confidence) == (0.25, 0.8)


def test_they_are_ranked_by_impact_times_confidence() -> None:
    """A likelier cause with less impact may come second; the name decides between equal products."""
    found = quick_fixes(
        [
            cause("likely-but-light", "info", 0.6, ("nan", "spikes")),
            cause("heavy", "critical", 0.3, ("nan", "spikes")),
            cause("b-same", "error", 0.15, ("nan", "spikes")),
            cause("a-same", "error", 0.15, ("nan", "spikes")),
        ],
        SYMPTOMS,
    )

    assert [f.cause for f in found] == ["heavy", "likely-but-light", "a-same", "b-same"]


def test_the_cause_that_ended_the_run_comes_first() -> None:
    """Even if another cause has more impact."""
    ended = replace(cause("ended", "warning", 0.6, ("nan",)), ended_run=True)

    assert [f.cause for f in quick_fixes([cause("heavy", "critical", 0.9, ("nan", "spikes")), ended], SYMPTOMS)] == [
        "ended",
        "heavy",
    ]


def test_a_cause_without_a_change_has_none() -> None:
    """Nothing is made up."""
    assert quick_fixes([cause("a", "error", 0.8, ("nan",), None)], SYMPTOMS) == ()


def test_a_cause_that_is_only_possible_comes_last() -> None:
    """Whoever stopped a run by hand need not change its learning rate first."""
    possible = replace(cause("rate", "error", 0.5, ("nan", "spikes")), verdict="possible")
    sure = cause("stopped", "info", 0.96, ("nan",))

    assert [f.cause for f in quick_fixes([possible, sure], SYMPTOMS)] == ["stopped", "rate"]


def test_a_guess_below_a_stated_ending_is_nothing_to_do_first() -> None:
    """A cause that is only possible has a fix of its own only where none that is likely ended the run."""
    ended = replace(cause("ended", "error", 0.9, ("nan",)), ended_run=True)
    guess = replace(cause("guess", "critical", 0.28, ("spikes",)), verdict="possible")

    assert [f.cause for f in quick_fixes([ended, guess], SYMPTOMS)] == ["ended"]
    assert [f.cause for f in quick_fixes([cause("a", "error", 0.9, ("nan",)), guess], SYMPTOMS)] == ["a", "guess"]
