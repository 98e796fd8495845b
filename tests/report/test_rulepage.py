"""A rule as a page of Markdown."""

from loganalyst.report.rulepage import render

RULE = {
    "id": "my-cause", "label": "l", "family": "data", "severity": "error", "status": "stable", "since": "1.0",
    "title": "A *title*", "summary": "s", "mechanism": "m", "symptoms": ["loss_nan"],
    "evidence": [{"says": "a_b", "kind": "direct", "ask": "x > 1", "weight": {"if_true": 2, "if_false": -0.5}}],
    "fix": [{"change": "lower it", "from": 1, "to": 2, "verify": "look"}],
}  # fmt: skip


def test_a_page_holds_the_rule():
    """Texts are escaped, questions are code; empty parts are left out."""
    page = render(RULE)

    assert page.startswith("# A \\*title\\*\n\n`my-cause` · label `l` · family data · error · stable since 1.0\n")
    assert "- a_b\n  (direct; true +2, false -0.5; judged)\n  `x > 1`" in page
    assert "## Fix\n\nlower it: 1 → 2\n\n- **How to verify:** look\n" in page
    assert "Side effects" not in page
