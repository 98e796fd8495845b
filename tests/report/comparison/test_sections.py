"""A comparison in words."""

from dataclasses import replace

from loganalyst.comparing.comparisonresult import Sensitivity
from loganalyst.report.comparison.sections import headline, level, parts


def test_the_headline_counts_runs(small):
    """It names the objective and what is left out."""
    assert headline(small) == [
        "3 runs, 1 of them failed",
        "2 compared by val (best value, lower is better): the usual one",
        "Left out: 1 unstable",
    ]
    assert headline(replace(small, objective=None))[1].startswith("Nothing to compare them by")


def test_settings_that_matter_have_a_row(small):
    """Others are named in a note, and an interaction in a sentence."""
    part = parts(small)[0]

    assert part.title == "What makes the differences, of 2 settings in 3 runs"
    assert part.rows == (("lr", "██████████", "80 %", "70 to 90 %", "0.01 (highest tried)", "0.001 to 0.01", "0.02"),)
    assert part.notes[0] == "Not shown to matter (at a false discovery rate of 5 %): a|b 10 %"
    assert part.notes[2] == "lr × a|b: how much lr matters depends on a|b; its best level does not"


def test_without_an_answer_the_reason_is_given(small):
    """No table, one sentence."""
    part = parts(replace(small, sensitivity=Sensitivity(3, why_not="too few runs")))[0]

    assert (part.title, part.rows, part.notes) == ("What makes the differences", (), ("No answer: too few runs.",))


def test_the_next_run_comes_last(small):
    """With its start, its change, and what an outcome means."""
    part = parts(small)[-1]

    assert (part.title, part.notes) == (
        "Next run",
        ("Try 0.02.", "Because it is best.", "Start from b with lr = 0.02", "If it falls → go on"),
    )
    assert [level(value) for value in (0.000123456, "adam\n")] == ["0.0001235", "adam"]


def test_settings_files_come_at_the_end(small):
    """Those that took effect, and those that came with a run."""
    part = parts(replace(small, settings_obeyed={"/a/l.yaml: 1 role": 3}, settings_ignored={"/a/b/l.yaml": 1}))[-1]

    assert part.notes == ("Obeyed: /a/l.yaml: 1 role (3 runs)", "Not obeyed: /a/b/l.yaml (1 run)")
