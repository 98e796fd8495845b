"""Files that log the same metrics side by side, twice, or one after another."""

import math
import re
from pathlib import Path

import pytest

from loganalyst import diagnose
from loganalyst.curves.effective import effective
from loganalyst.model import Run
from loganalyst.sources.files.samesteps import prefixes
from loganalyst.sources.ingest import ingest


def table(level: float, steps: range, name: str = "loss") -> str:
    return f"epoch,{name}\n" + "".join(f"{s},{level + 3 * math.exp(-s / 10):.4f}\n" for s in steps)


def log(level: float, steps: range, hour: int = 1, rate: float = 500.0) -> str:
    return "".join(
        f"2026-01-01 {hour:02d}:{s // 60:02d}:{s % 60:02d} INFO step {s} loss {level + 3 * math.exp(-s / 10):.4f} "
        f"lr 0.001 tokens_per_sec {rate + s % 7:.1f}\n"
        for s in steps
    )


def read(folder: Path, files: dict[str, str]) -> Run:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return ingest(folder)


def metrics(run: Run) -> list[str]:
    return sorted(run.points["metric"].unique())


@pytest.mark.parametrize("names", [("train.csv", "val.csv"), ("train.log", "val.log")])
def test_a_table_for_training_and_one_for_validation_are_two_losses(tmp_path: Path, names: tuple[str, str]) -> None:
    """They have the same columns at the same epochs, and their names give the roles."""
    write = table if names[0].endswith("csv") else log
    read(tmp_path, {names[0]: write(0.5, range(60)), names[1]: write(0.8, range(60))})
    found = diagnose(tmp_path)

    roles = {m.name: m.role for m in found.metrics if m.name.endswith("loss")}
    assert roles == {"train::loss": "train_loss", "val::loss": "val_loss"}
    assert found.features.values["val_loss_last"] == pytest.approx(0.8, abs=0.05)


def test_overfitting_is_seen_between_two_tables(tmp_path: Path) -> None:
    """As one curve, the two would not show it."""
    rising = "epoch,loss\n" + "".join(f"{s},{1.0 + abs(s - 12) * 0.04:.4f}\n" for s in range(60))
    read(tmp_path, {"train.csv": table(0.05, range(60)), "val.csv": rising})

    assert diagnose(tmp_path).causes[0].id == "overfitting"


def test_what_ranks_log_is_named_after_their_files(tmp_path: Path) -> None:
    """The slow rank is named, and a NaN counts for its own rank only."""
    files = {f"logs/rank_{r}.log": log(0.5 + r / 100, range(200), rate=300 if r == 2 else 500) for r in range(4)}
    files["logs/rank_3.log"] = re.sub(r"(step 1[6-9]\d loss )\S+", r"\1nan", files["logs/rank_3.log"])
    read(tmp_path, files)
    found = diagnose(tmp_path)
    straggler = next(c for c in found.causes if c.id == "straggler")

    assert [m.name for m in found.metrics if m.role == "train_loss"] == [f"rank_{r}::loss" for r in range(4)]
    assert straggler.metric == "rank_2::tokens_per_sec"
    assert "rank2 of 4 takes 1.66 times the median time of the others" in straggler.evidence[0].text
    assert found.features.values["train_loss_nonfinite_metric"] == "rank_3::loss"
    assert any("rank_3::loss is NaN" in s.text for s in found.symptoms)


def test_a_log_written_twice_is_one_log(tmp_path: Path) -> None:
    """A logger's own file and the printed lines of the job, which lack the end and have one line more."""
    lines = log(0.5, range(100)).splitlines(keepends=True)
    files = {"main.log": "".join([*lines[:50], *lines[51:]]), "slurm-1.out": "".join(lines[:95])}
    run = read(tmp_path, files)
    rows = effective(run.points, {s.path: s.format for s in run.sources})
    assert rows is not None
    points = run.points[rows]

    assert metrics(run) == ["loss", "lr", "tokens_per_sec"]
    assert points.filter(metric="loss")["step"].to_list() == list(range(100))
    assert points.height == 300


def test_parts_of_one_log_and_logs_one_after_another_keep_their_names(tmp_path: Path) -> None:
    """A rotated log, and a start that went back by some steps, or by all."""
    rotated = {"train.log.1": log(0.5, range(100)), "train.log": log(0.6, range(100))}
    later = {"logs/train_1.log": log(0.5, range(100)), "logs/train_2.log": log(0.6, range(100), hour=2)}
    back = {"first.csv": table(0.5, range(60)), "second.csv": table(0.6, range(50, 200))}
    for name, files in (("rotated", rotated), ("later", later), ("back", back)):
        assert [m for m in metrics(read(tmp_path / name, files)) if m.endswith("loss")] == ["loss"]


def test_two_files_share_too_few_steps_to_differ(tmp_path: Path) -> None:
    """Two steps do not make a comparison; another metric is none."""
    run = read(
        tmp_path,
        {"a.csv": table(0.5, range(60)), "b.csv": table(0.8, range(58, 100)), "c.csv": table(1, range(60), "acc")},
    )

    assert metrics(run) == ["acc", "loss"]


def test_without_steps_rows_are_counted(tmp_path: Path) -> None:
    """Two tables with only `loss`; file names that differ only in the suffix keep it."""
    files = {
        name: "loss,lr\n" + "".join(f"{level / s:.4f},0.1\n" for s in range(1, 40))
        for name, level in (("fold1.csv", 2), ("fold2.csv", 3))
    }
    assert metrics(read(tmp_path / "csv", files)) == ["fold1::loss", "fold1::lr", "fold2::loss", "fold2::lr"]
    outs = {"job.out": log(0.5, range(60)), "job.err": log(0.7, range(60))}
    assert metrics(read(tmp_path / "job", outs))[:3] == ["job.err::loss", "job.err::lr", "job.err::tokens_per_sec"]


def test_nothing_is_nothing() -> None:
    assert prefixes([], []) == []


def test_a_rank_is_named_by_its_folder_too(tmp_path: Path) -> None:
    """As in torchrun's logs, below a folder with a random name."""
    files = {f"logs/none_x1/attempt_0/{r}/stdout.log": log(0.5 + r, range(60)) for r in range(2)}
    files["slurm-7.out"] = log(0.9, range(60))
    found = metrics(read(tmp_path, files))

    assert found[::3] == ["rank_0::loss", "rank_1::loss", "slurm-7::loss"]
    assert len(found) == 9


def test_a_job_that_torchrun_started_again_is_judged_by_its_last_start(tmp_path: Path) -> None:
    """Ranks keep their names, and their curves continue; the end of the first start is reported as such."""
    raised = 'Traceback (most recent call last):\n  File "t.py", line 11, in step\n    f(x)\nValueError: sample 77\n'
    folder = "logs/none_x1/attempt_"
    files = {f"{folder}0/{r}/stdout.log": log(0.5 + r, range(60)) for r in range(2)}
    files |= {f"{folder}1/{r}/stdout.log": log(0.5 + r, range(40, 120), hour=2) for r in range(2)}
    run = read(tmp_path, {**files, f"{folder}0/1/stderr.log": raised})
    found = diagnose(tmp_path)

    assert metrics(run)[0::3] == ["rank_0::loss", "rank_1::loss"]
    assert run.points.filter(metric="rank_1::loss").group_by("session").len().sort("session").rows() == [
        (0, 60),
        (1, 80),
    ]
    assert found.causes == ()
    assert [s.label for s in found.sessions] == ["code_exception", None]
