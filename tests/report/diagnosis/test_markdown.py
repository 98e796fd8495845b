import itertools

import pytest
from markdown_it import MarkdownIt

from loganalyst.report.diagnosis import markdown

STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed", "hostile"]


def parsed(text: str):
    return MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough").parse(text)


def headings(text: str) -> list[str]:
    tokens = parsed(text)
    return [b.content for a, b in itertools.pairwise(tokens) if a.type == "heading_open"]


def test_the_full_report_has_every_part(failed):
    """Symptom, cause, mechanism, evidence, fix, limits, alternatives, and what could not be read or judged."""
    assert headings(markdown.render(failed)) == [
        "exp42: Learning rate too high after the curriculum switch",
        "Symptoms",
        "Cause 1: Learning rate too high after the curriculum switch (93 %, direct evidence)",
        "Root cause",
        "Why this happens",
        "Evidence",
        "Fix A (targeted)",
        "Fix B (broader)",
        "What it will not fix",
        "Side effects",
        "What follows from it",
        "What would decide",
        "References",
        "Possible cause 2: A bad batch of data (24 %, a guess so far: circumstantial evidence)",
        "Root cause",
        "Evidence",
        "What would decide",
        "Curves",
        "Timeline",
        "Quick fixes, the best first",
        "What to watch after the fix",
        "Ruled out by evidence",
        "Does not apply, or too few values for it",
        "Not checked",
        "Not logged",
        "Log next time",
        "Setup",
        "Run",
        "Not read",
    ]


def test_a_fix_tells_its_effect_its_check_and_the_next_try(failed):
    """A fix has four parts."""
    text = markdown.render(failed)

    for label in ("What it will change", "How to verify", "If it does not help"):
        assert f"- **{label}:** " in text


def test_nothing_is_said_of_what_is_not_there(healthy):
    """A healthy run has no empty headings."""
    assert headings(markdown.render(healthy)) == [
        "good: Healthy: no symptom found",
        "Curves",
        "Not checked",
        "Not logged",
        "Log next time",
        "Run",
    ]


@pytest.mark.parametrize("state", STATES)
def test_untrusted_text_is_no_markup(request, state):
    """No HTML, link, image or inline code comes from names and log lines, and tables keep their columns."""
    for token in parsed(markdown.render(request.getfixturevalue(state))):
        assert token.type not in {"html_block", "fence"}
        for child in token.children or ():
            assert child.type not in {"html_inline", "link_open", "image", "code_inline"}


@pytest.mark.parametrize(
    "text",
    [
        "a_b",
        "__init__",
        "*x*",
        "[a](b)",
        "<b>",
        "a|b",
        "# h",
        "- item",
        "1. item",
        "---",
        "===",
        "&amp;",
        "~~x~~",
        "\\",
        "`c`",
    ],
)
def test_escaped_text_reads_back(text):
    """What a reader sees is the text itself, in one paragraph."""
    tokens = parsed(markdown.escape(text))

    assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert text == "".join(c.content for c in tokens[1].children)


def test_plain_words_stay_readable():
    """Metric names and numbers are not littered with backslashes."""
    assert markdown.escape("train_loss/step 0.421 at -3.5") == "train_loss/step 0.421 at -3.5"
