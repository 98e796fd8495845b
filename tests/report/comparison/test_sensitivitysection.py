"""Which settings matter, in words."""

from dataclasses import replace

from loganalyst.comparing.comparisonresult import Sensitivity
from loganalyst.report.comparison.sections import parts


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
