"""Prefixes of launchers and collectors before a line."""

import polars as pl
import pytest

from loganalyst.sources.text.lines import prefixes


@pytest.mark.parametrize(
    "collector",
    [
        "2024-03-01T10:00:07.123456789Z ",
        "2024-03-01T10:00:07.123456789Z stderr F ",
        "2019-06-02T16:13:44.884Z: ",
        "[2024-03-01 10:00:07] ",
        "Mar  1 10:00:07 ",
        "[pod/train-worker-1/pytorch] ",
        "trainer-1  | ",
    ],
)
@pytest.mark.parametrize(
    ("mark", "rank"), [("[rank3]: ", 3), ("[default0]: ", 0), ("[1,12]<stderr>:", 12), ("(T pid=7, ip=10.0.0.2)", None)]
)  # fmt: skip
def test_a_collector_hides_no_rank(collector: str, mark: str, rank: int | None) -> None:
    """The prefix is the rank's mark alone, which identifies the lines of one rank."""
    found = prefixes.described(pl.Series([f"{collector}{mark}  boom", f"{collector}boom"]))

    assert found["prefix"].to_list() == [mark.strip(), ""]
    assert found["body"].str.strip_chars_start().to_list() == ["boom", f"{collector}boom"]
    assert found["rank"].to_list() == [rank, None]


def test_srun_pads_the_numbers_of_more_than_ten_tasks() -> None:
    """As `srun --label` with 12 tasks does."""
    found = prefixes.described(pl.Series([" 3: boom", "11:   boom"]))

    assert found.select("body", "rank").rows() == [("boom", 3), ("  boom", 11)]
