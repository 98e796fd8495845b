"""Reasons why causes are excluded, grouped; and what to log."""

from dataclasses import replace

from loganalyst.model import Metric, RuledOut
from loganalyst.report.diagnosis.ruledout import Excluded, grouped, joined, not_logged, to_log, unnamed_metric, words


def test_rivals_come_first_then_the_most_common_reason():
    """Reasons that differ in details alone are one."""
    rules = [
        RuledOut("a", "A", "unlikely", "none of its symptoms is seen: nan"),
        RuledOut("b", "B", "unlikely", "none of its symptoms is seen: spike"),
        RuledOut("c", "C", "unknown", "needs val_loss"),
        RuledOut("d", "D", "unlikely", "too early", rival=True),
    ]

    assert grouped(rules) == (
        Excluded(("D",), "too early", rival=True),
        Excluded(("A", "B"), "none of its symptoms is seen"),
        Excluded(("C",), "needs validation loss"),
    )


def test_consequences_of_one_kind_share_a_sentence(healthy):
    """Roles are plain words."""
    missing = {"val_loss": "overfitting cannot be judged", "grad_norm": "x cannot be judged", "step_time": "no speed"}
    sentences = not_logged(replace(healthy, summary={"not_logged": missing}, unknown=()))

    assert sentences == (
        "step time is not logged: no speed",
        "validation loss and gradient norm are not logged: overfitting and x cannot be judged",
    )


def test_what_is_worked_out_of_several_values_is_not_known(healthy):
    """A run may print times that no step time follows from."""
    missing = {
        "grad_norm": "x cannot be judged",
        "planned_end": "y cannot be judged",
        "step_time": "z cannot be judged",
    }
    sentences = not_logged(replace(healthy, summary={"not_logged": missing}, unknown=()))

    assert sentences == (
        "gradient norm is not logged: x cannot be judged",
        "planned end and step time are not known: y and z cannot be judged",
    )


def test_names_are_joined():
    """Roles inside a text become words; other words stay."""
    assert joined(["a", "b", "c"]) == "a, b and c"
    assert words("log recon_loss of each A_b") == "log reconstruction loss of each A_b"
    assert words("log train_loss. Write > pyspy_rank3.txt") == "log train loss. Write > pyspy_rank3.txt"


def test_metrics_of_unknown_role_are_not_called_missing(healthy):
    """One of them may be the loss; nobody can tell by the names."""
    missing = {"train_loss": "nothing can be judged", "val_loss": "overfitting cannot be judged"}
    unnamed = replace(
        healthy,
        summary={"not_logged": missing, "metrics": []},
        metrics=(Metric("Sigmoid1", "other", "no role fits the name", 20, 0),),
        unknown=(),
    )

    assert unnamed_metric(unnamed) == "Sigmoid1"
    assert to_log(unnamed) == ()
    assert not_logged(unnamed) == (
        "no metric is known as a loss, score or reward: "
        'if one is, say so in loganalyst.yaml, such as `roles: {"Sigmoid1": train_loss}`',
    )
    assert unnamed_metric(replace(unnamed, metrics=())) == ""
