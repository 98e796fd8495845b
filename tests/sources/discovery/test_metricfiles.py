"""Texts that hold one metric each."""

from pathlib import Path

import pytest

from loganalyst.sources.discovery import metricfiles
from loganalyst.sources.discovery.runs import runs
from loganalyst.sources.ingest import ingest
from loganalyst.thresholds import reading_limit

NUMBERS = "2.5\n2.25\n2.0\n"


def write(root: Path, *files: str, text: str = NUMBERS) -> Path:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def roots(root: Path) -> list[str]:
    return [str(found.root.relative_to(root)) for found in runs(root)]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ("train_loss.txt val_loss.txt test_acc.txt", ["."]),
        ("history/loss_history.txt history/val_acc_history.txt", ["history"]),
        ("trainLoss.txt valLoss.txt W1.txt notes.txt", ["."]),
        ("loss/net_7_train.txt loss/net_7_test.txt", ["loss"]),
        ("dloss.log gloss.log dreal.log", ["."]),
        ("lenet_loss.txt lenet_val_loss.txt", ["."]),
        ("loss.txt lr.txt", ["."]),
        ("loss_history.txt val_history.txt", ["."]),  # the second says only the data
        ("train_losses_train_loss.txt val_losses_raw_mae.txt", ["."]),  # each is a metric of its own
        ("checkpoints/loss_history.txt", ["checkpoints/loss_history.txt"]),
        ("adam_loss.txt sgd_loss.txt", ["adam_loss.txt", "sgd_loss.txt"]),  # two optimisers
        ("run1_loss.txt run2_loss.txt", ["run1_loss.txt", "run2_loss.txt"]),
        ("loss_lr0.1.txt loss_lr0.01.txt", ["loss_lr0.01.txt", "loss_lr0.1.txt"]),
        ("a/train_loss.txt a/val_loss.txt b/train_loss.txt b/val_loss.txt", ["a", "b"]),
    ],
)
def test_the_runs_of_files_that_are_named_after_metrics(tmp_path, files, found):
    assert roots(write(tmp_path, *files.split())) == found


def test_each_file_is_a_metric(tmp_path):
    write(tmp_path, "train_loss.txt", "val_loss.txt", "W1.txt")
    points = ingest(tmp_path).points.sort("metric", "step")

    assert points.select("metric", "step", "value").rows() == [
        (metric, step, value) for metric in ("train_loss", "val_loss") for step, value in enumerate([2.5, 2.25, 2.0])
    ]


def test_a_folder_says_what_was_measured(tmp_path):
    write(tmp_path, "loss/net_7_train.txt", "loss/net_7_test.txt")

    assert ingest(tmp_path).points["metric"].unique().sort().to_list() == ["loss/net_7_test", "loss/net_7_train"]


def test_texts_that_are_no_tables_stay_logs(tmp_path):
    """They are the logs of two programs, as before."""
    write(tmp_path, "train_loss.log", "val_loss.log", text="epoch 1 loss 0.5\n" * 9)

    assert roots(tmp_path) == ["train_loss.log", "val_loss.log"]


def test_a_folder_with_metrics_keeps_its_texts_apart(tmp_path):
    write(tmp_path, "train_loss.txt", "val_loss.txt")
    write(tmp_path, "metrics.csv", text="step,loss\n0,1.5\n1,0.5\n")

    assert [file.name for found in runs(tmp_path) for file in found.files] == ["metrics.csv", "train_loss.txt"]


def test_few_files_are_opened(tmp_path, monkeypatch):
    """Of thousands of files none: these are data, or many runs."""
    files = write(tmp_path, *(f"loss_{k}.txt" for k in range(int(reading_limit("files_of_metrics")) + 1)))
    monkeypatch.setattr(metricfiles, "reader_of", None)

    assert metricfiles.of_one_run(sorted(map(str, files.iterdir()))) == []
