"""Golden reports: `UPDATE_GOLDEN=1 pytest tests/report` writes them anew; read the difference before you commit it."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from loganalyst.report.common import layout
from loganalyst.report.diagnosis import terminal

GOLDEN = Path(__file__).parent / "golden"
STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed"]
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def golden(name: str, text: str) -> str:
    """The recorded text of that name (or `text` itself, recorded now)."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("state", STATES)
def test_report_looks_as_recorded(request, state, width):
    """The plain report of each status, narrow and wide, is the recorded one."""
    text = terminal.render(request.getfixturevalue(state), width=width)

    assert golden(f"{state}-{width}.txt", text) == text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("state", [*STATES, "hostile"])
def test_lines_fit_and_have_no_trailing_blanks(request, state, width):
    """No line is wider than asked, nor ends in blanks; no control character is written."""
    text = terminal.render(request.getfixturevalue(state), width=width)

    for line in text.splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()
        assert line.isprintable()


@pytest.mark.parametrize("state", [*STATES, "hostile"])
def test_colour_changes_nothing_else(request, state):
    """Without its colours the coloured report is the plain one: nothing in the logs adds or hides anything."""
    diagnosis = request.getfixturevalue(state)
    plain, coloured = (terminal.render(diagnosis, width=100, colour=c) for c in (False, True))

    assert plain == "".join(line.rstrip() + "\n" for line in ANSI.sub("", coloured).splitlines())
    assert "\x1b[" in coloured
    assert "\x1b" not in plain


def test_markup_is_shown_as_it_is(hostile):
    """Markup in a name is text."""
    assert "[bold red]x[/] red new | line" in terminal.render(hostile)


@pytest.mark.parametrize("state", STATES)
def test_ascii(request, state):
    """The fallback is plain ASCII, its curves included."""
    text = terminal.render(request.getfixturevalue(state), ascii_only=True)

    assert text.isascii()


def test_ascii_keeps_the_meaning(failed):
    """The fallback still tells what holds, what does not and where the loss became NaN."""
    lines = terminal.render(failed, ascii_only=True).splitlines()

    assert any(line.startswith("x Learning rate too high") for line in lines)
    assert any(re.match(r"  train/loss +[_.~=+*#-]+x   2.32 -> 0.389 -> 5.05 -> NaN", line) for line in lines)


def test_healthy_is_three_lines(healthy):
    """A healthy run takes three lines: how sure, the best value and its step, what is not logged."""
    assert terminal.render(healthy).splitlines() == [
        "✓ good   Healthy: no symptom found" + " " * 57 + "91 % sure",
        "  Finished at step 4,990 · best val_loss 0.413 at step 4,500 · best loss 0.308 at step 4,990",
        "  Not seen   gradient norm is not logged: exploding and vanishing gradients cannot be judged",
    ]


def test_a_weak_cause_names_what_would_decide(failed):
    """Below 70 % the report says which measurement would settle it."""
    weak = replace(failed.causes[0], confidence=0.6, band="low")
    text = terminal.render(replace(failed, causes=(weak,)))

    assert "  Decide     log the ratio of update to weight\n" in text


def test_top_limits_the_causes(failed):
    """With one cause asked for, the second is not told."""
    assert "A bad batch of data" not in terminal.render(failed, top=1)


@pytest.mark.parametrize("width", range(30, 60))
def test_a_number_stays_with_its_percent_sign(width):
    """Wherever a line is broken; and nothing else is changed."""
    words = "it fell by 12 % and then by 345 %; 7 % of the steps were 100 % so"
    lines = [line.plain for line in layout.wrapped(layout.text(words), width)]

    assert not any(line.lstrip().startswith("%") for line in lines)
    assert " ".join(line.strip() for line in lines) == words
