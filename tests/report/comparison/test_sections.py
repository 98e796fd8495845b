"""A comparison in words."""

from dataclasses import replace

from loganalyst.report.comparison.sections import headline, parts
from loganalyst.report.comparison.sensitivitysection import level


def test_the_headline_counts_runs(small):
    """It names the objective and what is left out."""
    assert headline(small) == [
        "3 runs, 1 of them failed",
        "2 compared by val (best value, lower is better): the usual one",
        "Left out: 1 unstable",
    ]
    assert headline(replace(small, objective=None))[1].startswith("Nothing to compare them by")


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
