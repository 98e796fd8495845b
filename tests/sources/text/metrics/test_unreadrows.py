"""Rows of results that nothing understood."""

from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose
from loganalyst.sources.text.metrics.unreadrows import MIN_ROWS, found

ROWS = [f"{i} 100 {2 / i:.4f} {9 / i:.2f}" for i in range(1, 13)]


def unread(folder: Path, lines: list[str], first_line: int = 1) -> list[tuple[int, str, str]]:
    log = folder / "job.log"
    log.write_text("\n".join(lines) + "\n")
    return [(row["line"], row["captures"], row["text"]) for row in found(log, 0, first_line, len(lines)).to_dicts()]


def test_the_form_with_most_rows_is_named(tmp_path: Path) -> None:
    lines = ["Using cuda", *ROWS, *(f"probe {i / 7:.3f}" for i in range(8)), "done"]

    assert unread(tmp_path, lines) == [(13, '{"rows":"12"}', "12 100 0.1667 0.75")]
    assert unread(tmp_path, lines, first_line=5) == [(13, '{"rows":"9"}', "12 100 0.1667 0.75")]
    assert unread(tmp_path, lines, first_line=8) == [(21, '{"rows":"8"}', "probe 1.000")]


@pytest.mark.parametrize(
    "lines",
    [
        ROWS[: MIN_ROWS - 1],
        ["mean 1.0000"] * 30,  # the same value again and again
        [f"file {i} of 30" for i in range(30)],  # no decimal point
        [f"took {i / 7:.3f}" for i in range(30)],
        [f"shard {i}: {i / 7:.2f}it/s" for i in range(30)],  # a number with a unit
        [f"2024-05-01 10:00:{i:02d}.5 saved" for i in range(30)],
        [f"epoch {i} loss {i / 7:.3f}" for i in range(30)],  # read
        [""],
    ],
)
def test_other_rows_are_no_results(tmp_path: Path, lines: list[str]) -> None:
    assert unread(tmp_path, lines) == []


def test_a_log_of_such_rows_is_doubted(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("\n".join([*ROWS, "Training finished."]) + "\n")
    diagnosis = diagnose(log)

    assert "results-not-understood" in [note.id for note in diagnosis.notes]
    assert diagnosis.run.lines.filter(pattern="numbers-not-read")["line"].to_list() == [12]


def test_a_log_with_metrics_is_not_searched(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("\n".join([*(f"epoch {i} loss {2 / i:.3f}" for i in range(1, 13)), *ROWS]) + "\n")

    assert not diagnose(log).run.lines.filter(pattern="numbers-not-read").height
