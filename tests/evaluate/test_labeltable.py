"""Tables of labels."""

from pathlib import Path

import pytest

from loganalyst.errors import SourceError
from loganalyst.evaluate.labeltable import is_table, truths


def test_rows_have_fair_answers_and_a_repository(tmp_path: Path) -> None:
    """The label comes first. Rows of low certainty, of parts of logs and without an answer are left out."""
    table = tmp_path / "labels.csv"
    table.write_text(
        "run_id,path,label,acceptable,certainty,repo,segment\n"
        "1,a/run,hung,unknown|hang,high,o/a,1/1\n2,b,healthy,healthy|insufficient,medium,o/b,1/1\n"
        "3,c,healthy,healthy,low,o/c,1/1\n4,d,hang,hang,high,o/d,1/2\n5,e,,,high,o/e,1/1\n"
    )

    assert dict(truths(table)) == {
        str(tmp_path / "a/run"): {"labels": ["hang", "cause_unknown"], "repo": "o/a"},
        str(tmp_path / "b"): {"labels": ["healthy", "insufficient_data"], "repo": "o/b"},
    }
    assert is_table(table)


def test_a_half_is_chosen_by_repository(tmp_path: Path) -> None:
    """A case without a repository is one of its own. Ids of rules are answers. An empty table is an error."""
    table = tmp_path / "cases.csv"
    table.write_text("case,accepted_rule_ids\na/b,lr-too-high|nan-loss\na/c,hang\n")

    assert [truth["labels"] for _, truth in truths(table, 0)] == [["hang"]]
    assert [truth["labels"] for _, truth in truths(table, 1)] == [["lr-too-high", "nan-loss"]]
    table.write_text("case,accepted_rule_ids\n")
    with pytest.raises(SourceError, match="has no row that counts"):
        list(truths(table))


def test_tables_of_features_are_none(tmp_path: Path) -> None:
    """They have all labels of a row in one column."""
    table = tmp_path / "logs.csv"
    table.write_text("source,family,labels,log_root_label\n")

    assert (is_table(table), is_table(tmp_path)) == (False, False)
