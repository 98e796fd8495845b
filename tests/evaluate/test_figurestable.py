"""The figures as a table for the terminal."""

from pathlib import Path

import polars as pl

from loganalyst.evaluate.accuracy import figures
from loganalyst.evaluate.figurestable import plot, table, wrong
from tests.evaluate.evaluatedruns import table as answers


def test_the_table_shows_shares_scores_and_labels() -> None:
    """Each figure has its interval."""
    lines = table(figures(answers(("a", "a", True, 0.95), ("a", "b", False, 0.6)))).splitlines()

    assert lines[0] == "2 runs, 2 answers with a confidence"
    assert lines[1] == "first answer right                    50.0% (  9.5% to  90.5%) of 2"
    assert lines[8].startswith("Brier score                           0.181 (")
    assert lines[11] == "onset                                median 10 steps away, 100.0% within 5 % of the run, of 1"
    assert lines[14] == "a                            2       1.00     0.50    0.67"


def test_wrong_answers_are_listed_with_the_truth() -> None:
    """One line per wrong answer, sorted by path."""
    rows = pl.DataFrame(
        {
            "path": ["r2", "r1"], "family": ["f", "f"], "injected": ["lr", "lr"], "writer": ["csv", "csv"],
            "labels": [["a"], ["a", "c"]], "status": ["healthy", "diagnosis_complete"], "ids": [[], ["b-rule"]],
            "confidence": [None, 0.614], "first": [False, False],
        }
    )  # fmt: skip

    assert wrong(rows).splitlines() == [
        "r1  f lr csv  a, c  diagnosis_complete: b-rule 0.61",
        "r2  f lr csv  a  healthy: - 0.00",
    ]


def test_the_diagram_is_written(tmp_path: Path) -> None:
    """In the format of the suffix."""
    plot(figures(answers(("a", "a", True, 0.95))), tmp_path / "bins.svg")

    assert "<svg" in (tmp_path / "bins.svg").read_text()
