"""Metrics that have the values of another metric."""

import numpy as np

from loganalyst.curves.relatedmetrics import changes
from tests.curves.curvesof import Logged, claims_of, curves_of

LOSS = [2.5 * 0.9**k for k in range(20)]
RISING = [0.9 - 0.5 * 0.8**k for k in range(20)]


def changed(logged: Logged) -> dict[str, str]:
    """The roles that change."""
    return {metric: claim.role.name for metric, claim in changes(curves_of(logged), claims_of(*logged)).items()}


def test_a_copy_without_a_role() -> None:
    assert changed({"val_loss": LOSS, "monitor": LOSS}) == {"monitor": "val_loss"}
    assert changed({"val_loss": LOSS, "monitor": LOSS[:-1]}) == {}
    assert changed({"val_loss": [1.0] * 20, "monitor": [1.0] * 20}) == {}


def test_a_bare_name_with_held_out_values() -> None:
    """A program logs the best of its held-out accuracies so far as `accuracy`."""
    best = [*RISING[:10], *RISING[12:]]

    assert changed({"test accuracy": RISING, "accuracy": best}) == {"accuracy": "val_accuracy"}
    assert changed({"val_loss": LOSS, "loss": LOSS}) == {"loss": "val_loss"}
    assert changed({"val_loss": LOSS, "train_loss": LOSS}) == {}
    assert changed({"val_loss": LOSS, "loss": LOSS[:5]}) == {}


def test_the_only_term_that_equals_the_total() -> None:
    assert changed({"valid_loss": LOSS, "ptl/val_loss": LOSS}) == {"ptl/val_loss": "val_loss"}
    assert changed({"loss": LOSS, "loss_cls": LOSS, "loss_box": RISING}) == {}


def test_a_perplexity_is_that_of_its_loss() -> None:
    held_out, bits = [3 * 0.95**k for k in range(20)], [x / np.log(2) for x in LOSS]

    assert changed({"ppl": list(np.exp(held_out)), "loss": LOSS, "val_loss": held_out}) == {"ppl": "val_perplexity"}
    assert changed({"ppl": list(np.exp(LOSS)), "loss": bits, "val_loss": held_out}) == {"ppl": "train_perplexity"}
    assert changed({"ppl": RISING, "loss": LOSS, "val_loss": held_out}) == {}


def test_an_error_is_what_an_accuracy_lacks() -> None:
    per_cent = [100 * x for x in RISING]

    assert changed({"val_acc": RISING, "val_err": [1 - x for x in RISING]}) == {"val_err": "val_error_rate"}
    assert changed({"val_acc": per_cent, "val_error": [100 - x for x in per_cent]}) == {"val_error": "val_error_rate"}
    assert changed({"val_acc": RISING, "val_error": LOSS}) == {}
