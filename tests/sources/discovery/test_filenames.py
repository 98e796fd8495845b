"""Kinds of files and folders by their names."""

import pytest

from loganalyst.sources.discovery import filenames
from loganalyst.sources.discovery.filenames import Kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("events.out.tfevents.1714550000.host", Kind.CURVES),
        ("events.out.tfevents.1714550000.host.profile-empty", Kind.NOTHING),
        ("metrics.csv", Kind.CURVES),
        ("samples.csv", Kind.TABLE),
        ("trainer_state.json", Kind.CURVES),
        ("my_result_2.json", Kind.TABLE),
        ("run-metrics.parquet", Kind.CURVES),
        ("dialogs.parquet", Kind.NOTHING),
        ("run-3f9a1c02.wandb", Kind.CURVES),
        ("train.log", Kind.LOG),
        ("train.log.2.gz", Kind.LOG),
        ("train.o123", Kind.LOG),
        ("log.txt.rank1", Kind.LOG),
        ("stdout.txt", Kind.LOG),
        ("answers.txt", Kind.NOTES),
        ("readme.md", Kind.NOTHING),
        ("requirements.txt", Kind.NOTHING),
        ("config.yaml", Kind.SETTINGS),
        ("docker-compose.yaml", Kind.NOTHING),
        ("sacct.txt", Kind.SETTINGS),
        ("mlflow.db", Kind.DATABASE),
        ("nccl_trace_rank_3", Kind.DUMP),
        ("epoch=3.ckpt", Kind.CHECKPOINT),
        ("pytorch_model.bin", Kind.CHECKPOINT),
        (".metrics.csv", Kind.NOTHING),
        ("model.py", Kind.NOTHING),
    ],
)
def test_kind(name: str, kind: Kind) -> None:
    assert filenames.kind(name) is kind


@pytest.mark.parametrize(
    ("name", "parent", "part"),
    [
        ("train", "run", True),
        ("Logs", "run", True),
        ("checkpoint-500", "run", True),
        ("rank_3", "run", True),
        ("0", "attempt_1", True),
        ("0", "run", False),
        ("seed_3", "run", False),
    ],
)
def test_is_part(name: str, parent: str, part: bool) -> None:
    assert filenames.is_part(name, parent) is part


@pytest.mark.parametrize(
    ("name", "run"),
    [("run-20240501_101500-3f9a", True), ("version_3", True), ("version_b", False), ("run-1", False)],
)
def test_is_run(name: str, run: bool) -> None:
    assert filenames.is_run(name) is run


def test_history_of() -> None:
    assert filenames.history_of("run-3f9a1c02-history:v0") == "3f9a1c02"
    assert filenames.history_of("run-3f9a1c02") == ""


@pytest.mark.parametrize(
    ("name", "writer"),
    [
        ("events.out.tfevents.1714550000.node1.77.0", "node1.77"),
        ("events.out.tfevents.1714550000.node1", "node1"),
        ("events.out.tfevents.1714550000.node1.77.0.v2", ""),
        ("events.out.tfevents.1714550000", ""),
    ],
)
def test_writer(name: str, writer: str) -> None:
    assert filenames.writer(name) == writer


@pytest.mark.parametrize(
    ("name", "accounting"), [("sacct.csv", False), ("sacct_47.txt", True), ("x.psv", True), ("job.txt", False)]
)
def test_is_accounting(name: str, accounting: bool) -> None:
    assert filenames.is_accounting(name) is accounting


@pytest.mark.parametrize(("name", "may"), [("progress.txt", True), ("scores.txt", True), ("notes.txt", False)])
def test_may_be_table(name: str, may: bool) -> None:
    assert filenames.may_be_table(name) is may
