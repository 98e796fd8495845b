"""The promises of fixes, asked of the run after the fix."""

from dataclasses import replace

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.promises import expectations, symptoms
from loganalyst.diagnosis.rulesql import ask
from loganalyst.model import Features

BEFORE = {"lr_peak": 0.03, "lr_suggested": 0.01}


def test_a_promise_holds_fails_or_is_not_known(catalogue: Catalogue) -> None:
    """Asked of the features of the run after; what is missing is named by its role."""

    def asked(**values: int) -> list[tuple[str, bool | None, tuple[str, ...]]]:
        found = expectations(catalogue, "lr-too-high", BEFORE, Features(values))
        return [(e.ask, e.holds, e.missing) for e in found]

    assert asked(train_loss_divergence_count=0) == [("train_loss_divergence_count = 0", True, ())]
    assert asked(train_loss_divergence_count=2) == [("train_loss_divergence_count = 0", False, ())]
    assert asked() == [("train_loss_divergence_count = 0", None, ("train",))]
    assert expectations(catalogue, "no-such-rule", BEFORE, Features({})) == ()


def test_the_change_is_worded_with_the_values_of_the_run_before(catalogue: Catalogue) -> None:
    """The numbers of the old run, not of the new one."""
    (found,) = expectations(catalogue, "lr-too-high", BEFORE, Features({"lr_peak": 0.5}))

    assert "0.03" in found.change
    assert "0.5" not in found.change


def test_a_change_that_was_not_offered_promises_nothing(catalogue: Catalogue) -> None:
    """The condition of a fix is asked of the run before."""
    rule = catalogue.rules["lr-too-high"]
    fix = replace(rule.fix[0], when=ask("lr_peak > 0.1", catalogue.declared))
    known = replace(catalogue, rules={rule.id: replace(rule, fix=(fix,))})

    assert expectations(known, rule.id, BEFORE, Features({"lr_peak": 0.5})) == ()
    assert len(expectations(known, rule.id, {"lr_peak": 0.5}, Features({}))) == 1


def test_symptoms_are_seen_absent_or_not_known(catalogue: Catalogue) -> None:
    """Every symptom of the catalogue has an answer."""
    found = symptoms(catalogue, Features({"train_loss_divergence_count": 1, "train_loss_plateau_count": 0}))

    assert found == {"divergence": True, "nan-loss": None, "plateau": False}
