"""Members of a search that failed while the program went on with others."""

from pathlib import Path

import numpy as np
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import failedtrials, reader
from loganalyst.sources.text.lines.chunks import chunk_of


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (["trial 04 lr=0.1 -> FAILED at step 9", "trial 05 lr=0.2 -> best 0.3"], [0]),
        (["Fold #2 failed: loss is nan", "saved", "fold 3 epoch 1"], [0]),
        (["seed=1 diverged", "seed=2 diverged"], [0]),  # nothing follows the last one
        (["fold 2 failed", "fold 2 is over"], []),
        (["rank 2 failed", "rank 3 waits"], []),
    ],
)
def test_a_failure_that_another_member_follows(lines: list[str], rows: list[int]) -> None:
    chunk = chunk_of("\n".join(lines).encode(), np.arange(1, len(lines) + 1))

    assert np.flatnonzero(failedtrials.outlived(chunk)).tolist() == rows


def test_a_failed_trial_ends_no_search_and_is_no_step(tmp_path: Path) -> None:
    path = tmp_path / "search.log"
    path.write_text("trial 1: FAILED at step 7 (loss is nan)\n" + "".join(f"trial {n}: ok\n" for n in range(2, 9)))
    tables = Tables.concat(reader.read(path))

    assert tables.points.height == 0
    assert set(tables.lines["part"]) == {"advice"}
    assert tables.sessions["status"].to_list() == ["unknown"]
