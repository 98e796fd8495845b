"""Jobs of one training that follow one another."""

from pathlib import Path

import pytest

from loganalyst.errors import SourceError
from loganalyst.sources.discovery.runs import discover

STEPS = "".join(f"step {i} loss {4 / (1 + i):.4f}\n" for i in range(30))


def test_the_last_job_of_a_chain(tmp_path: Path) -> None:
    (tmp_path / "train.o99").write_text(STEPS)
    for job in (100, 101):
        (tmp_path / f"train.o{job}").write_text("Resuming from checkpoint out/step30.pt\n" + STEPS)
    found = discover(tmp_path)

    assert [file.name for file in found.files] == ["train.o101"]
    assert found.basis[-1].startswith("train.o101 continues train.o99, train.o100")
    assert {file.name: why for file, why in found.unread} == dict.fromkeys(
        ("train.o99", "train.o100"), "an earlier job, which train.o101 continues: name it to have it judged"
    )


@pytest.mark.parametrize("name", ["train.o101", "eval.o101"])
def test_jobs_that_do_not_continue(tmp_path: Path, name: str) -> None:
    """Or that have other names."""
    (tmp_path / "train.o100").write_text(STEPS)
    (tmp_path / name).write_text(STEPS if name.startswith("train") else "Resuming from checkpoint a.pt\n" + STEPS)

    with pytest.raises(SourceError, match="holds 2 runs"):
        discover(tmp_path)


def test_numbered_logs_of_ranks(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for rank in (0, 1):
        (tmp_path / "logs" / str(rank)).write_text(f"[rank{rank}]: begin\n" * 5 + STEPS)

    assert sorted(file.name for file in discover(tmp_path).files) == ["0", "1"]
