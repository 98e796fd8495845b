"""The sections of the page."""

from loganalyst.report.diagnosis import html
from loganalyst.report.diagnosis.document import document
from loganalyst.report.diagnosis.html import sections


def test_verdict_fix_and_confidence_come_first(failed):
    """What, why, how sure, what now: before any curve."""
    text = html.render(failed)
    first = text[text.index("<article") : text.index('class="figures"')]

    for words in (
        "Learning rate too high after the curriculum switch",
        "93 % sure",
        "grad_norm left its trend at step 24,549",
        "optim.lr 3.0e-3 → 1.0e-3 (config.yaml:17), or clip the gradient norm at 1.0",
        "grad_norm below 5; no rise of train/loss after step 24,590",
        "run 2,000 steps from checkpoint step-24000.pt and compare grad_norm",
    ):
        assert words in first


def test_sections_without_content_are_empty(unreadable):
    """An unreadable run has no evidence, no baseline and no alternatives."""
    doc = document(unreadable)

    assert (sections.evidence(doc), sections.baseline(doc), sections.alternatives(doc)) == ([], [], [])
