from dataclasses import fields, is_dataclass, replace

import pytest

from loganalyst.model import Alternative, RuledOut
from loganalyst.report.common.rows import Row
from loganalyst.report.diagnosis import terminal
from loganalyst.report.diagnosis.document import document
from loganalyst.report.diagnosis.ruledout import Excluded

STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed", "hostile"]


def texts(value):
    """Every text anywhere in a document."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for f in fields(value):
            yield from texts(getattr(value, f.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)


@pytest.mark.parametrize(
    ("state", "tone", "headline", "verdict"),
    [
        (
            "failed",
            "bad",
            "FAILED at step 24,650 of 50,000 after 3 h 12 min",
            "Learning rate too high after the curriculum switch",
        ),
        ("healthy", "good", "FINISHED at step 4,990", "Healthy: no symptom found"),
        ("unknown_cause", "unsure", "LAST SEEN at step 899", "Something went wrong, but the logs do not show why"),
        (
            "too_little",
            "unsure",
            "LAST SEEN at step 3",
            "Not enough was logged to judge this run: 3 points of 1 metric",
        ),
        ("unreadable", "unsure", "UNREADABLE", "Nothing could be read here"),
        ("crashed", "bad", "FAILED; no step was logged", "GPU memory exhausted"),
    ],
)
def test_headline_and_verdict(request, state, tone, headline, verdict):
    """Each status has its own headline, verdict and tone."""
    doc = document(request.getfixturevalue(state))

    assert (tone, headline, verdict) == (doc.tone, doc.headline, doc.verdict)


@pytest.mark.parametrize("state", STATES)
def test_every_text_is_one_clean_line(request, state):
    """Whatever the logs hold, no control character, line break or direction mark is left, and no text is endless."""
    for text in texts(document(request.getfixturevalue(state))):
        assert text.isprintable()
        assert len(text) <= 2000


def test_the_onset_is_a_symptoms_where_no_cause_is_known(unknown_cause):
    """Without a cause the first symptom marks the curves."""
    assert document(unknown_cause).onset == "step 600"


def test_reasons_are_told_once(failed):
    """Causes with one reason share it; the reason most of them share comes first; what does not apply is kept apart."""
    doc = document(failed)

    assert (
        Excluded(("Overfitting", "Data leakage"), "validation loss is not logged"),
        Excluded(("Straggler",), "step time per rank is not logged"),
    ) == doc.not_judged
    assert [t for n in doc.ruled_out for t in n.titles] == ["fp16 overflow", "Log of zero"]
    assert doc.not_applicable == ("Entropy collapse",)


def test_an_alternative_has_its_probability_and_both_sides_of_the_evidence(failed):
    """The first screen lists it after the causes and before the rivals that are ruled out."""
    other = Alternative("hung", "Hung", "hung", 0.06, ("no line for an hour",), "the loss was still falling")
    changed = replace(failed, alternatives=(other,))
    shown = " ".join(terminal.render(changed).split())

    assert document(changed).less_likely == (Row("Hung 6 %", "no line for an hour; but the loss was still falling"),)
    assert "Hung 6 % · fp16 overflow ruled out" in shown


def test_a_sure_cause_without_alternatives_says_so(failed):
    """No number is made up for causes that no evidence supports."""
    shown = " ".join(terminal.render(replace(failed, causes=failed.causes[:1])).split())

    assert "Instead? nothing else is supported · fp16 overflow ruled out" in shown


def test_looked_for_and_not_found_is_not_ruled_out(failed):
    """Excluded, not supported and not checked are three groups."""
    unseen = RuledOut("hung", "Hung", "unlikely", "none of its symptoms is seen (Hung)")
    doc = document(replace(failed, not_supported=(unseen,)))

    assert [t for n in doc.ruled_out for t in n.titles] == ["fp16 overflow", "Log of zero"]
    assert [(n.titles, n.why) for n in doc.not_supported] == [(("Hung",), "none of its symptoms is seen")]
    assert [t for n in doc.not_judged for t in n.titles] == ["Overfitting", "Data leakage", "Straggler"]


def test_sources_that_say_nothing_are_named_by_their_tracker(failed):
    """Event files appear as TensorBoard, once."""
    assert document(failed).sources == ("TensorBoard", "slurm-8812.out", "config.yaml")


def test_not_known_stays_unsaid(failed):
    """A fact that is not known gives no row and no made-up number."""
    labels = [row.label for row in document(failed).facts]

    assert "Epochs" not in labels
    assert "Duration" in labels


def test_what_is_not_logged_is_told_in_one_sentence(healthy):
    """Costs of one kind share a sentence; another kind has its own."""
    costs = {
        "train_loss": "nothing can be said",
        "val_loss": "overfitting cannot be judged",
        "grad_norm": "vanishing gradients cannot be judged",
    }

    assert document(replace(healthy, summary={"not_logged": costs})).not_logged == (
        "train loss is not logged: nothing can be said",
        "validation loss and gradient norm are not logged: overfitting and vanishing gradients cannot be judged",
    )


def test_reasons_that_say_the_same_are_told_once(failed):
    """Rivals before the others. Roles are told in plain words, metrics by their names."""
    out = (
        RuledOut("a", "A", "unlikely", "the log names no kill"),
        RuledOut("b", "B", "unlikely", "the log names no crash; values were logged"),
        RuledOut("c", "C", "unlikely", "none of its symptoms is seen (Loss is NaN)"),
        RuledOut("d", "D", "unlikely", "the log names no kill", True),
        RuledOut("f", "F", "unlikely", "train_loss fell by 3 %"),
    )
    unknown = (RuledOut("e", "E", "unknown", "needs loss_scale, val_loss"),)
    doc = document(replace(failed, ruled_out=out, unknown=unknown))

    assert [(n.titles, n.why) for n in doc.ruled_out] == [
        (("D",), "no line of the log names it as the fault"),
        (("A", "B"), "no line of the log names it as the fault"),
        (("C",), "none of its symptoms is seen"),
        (("F",), "train_loss fell by 3 %"),
    ]
    assert [n.why for n in doc.not_judged] == ["needs loss scale, validation loss"]
