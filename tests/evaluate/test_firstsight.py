"""Answers that were kept from first sight."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.errors import SourceError
from loganalyst.evaluate import firstsight
from tests.evaluate.evaluatedruns import FIRST_SIGHT, PUBLIC_LOGS, PUBLIC_RECORDS


def test_the_public_records_are_unchanged() -> None:
    """28 of the 44 causes named at first sight were right."""
    kept = firstsight.read([PUBLIC_RECORDS])

    assert (kept.height, kept["first"].sum()) == (44, 28)
    assert kept["confidence"].is_between(0.5, 0.99).all()


def test_answers_for_development_runs_are_unchanged() -> None:
    """Answers of the rules before they were improved on these runs."""
    kept = firstsight.read([FIRST_SIGHT])

    assert (kept.height, kept["first"].sum()) == (4291, 3710)


def test_a_source_and_an_old_answer_count_less(tmp_path: Path) -> None:
    """A source counts as 60 answers at most, and 0.7 of that for each round of work on the rules since."""
    row = "plateau,plateau,causes,0.8,true,supervised"
    old, new = (tmp_path / name for name in ("old.csv", "new.csv"))
    for table, rows in ((old, [f"a,{row},1"] * 120), (new, [f"b,{row},3"] * 2)):
        table.write_text("\n".join([",".join(firstsight.COLUMNS), *rows, ""]))

    counted = dict(firstsight.read([old, new]).group_by("source").agg(pl.col("count").sum()).iter_rows())

    assert counted == {"a": pytest.approx(60 * 0.7**2), "b": pytest.approx(2)}


def test_a_value_of_healthy_that_was_cut_off_counts_as_a_usual_one_below() -> None:
    """The answer "healthy" was kept as 0.5 or more. All other answers count as they were stated."""
    kept = firstsight.read([FIRST_SIGHT])
    cut = kept.filter(pl.col("stated") != pl.col("confidence"))

    assert cut.unique(["kind", "confidence", "stated"]).select("kind", "confidence", "stated").rows() == [
        ("healthy", 0.5, 0.27)
    ]
    assert cut.height == 124


def test_a_table_of_answers_is_recognised(tmp_path: Path) -> None:
    """By its column `said`. All other columns are required."""
    table = tmp_path / "answers.csv"
    table.write_text("source,labels,said,first\na,healthy,plateau,false\n")

    assert firstsight.is_table(PUBLIC_RECORDS)
    assert not firstsight.is_table(PUBLIC_LOGS)
    assert not firstsight.is_table(tmp_path)
    with pytest.raises(SourceError, match="it takes source, labels, said, kind, confidence, first, group, round"):
        firstsight.read([table])
