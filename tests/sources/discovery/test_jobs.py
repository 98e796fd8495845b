"""Jobs of logs by their names."""

import pytest

from loganalyst.sources.discovery.jobs import by_job, job_id, stem_of


@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("slurm-123.out", "123"),
        ("logs/slurm_123_4.err", "123_4"),
        ("train-123.err", "123"),
        ("123_0_log.out", "123"),
        ("123_4_0_log.out", "123_4"),
        ("train.o123", "123"),
        ("train.e123-4", "123_4"),
        ("4711-train.log", "4711"),
        ("train_job-4711.log.2.gz", "4711"),
        ("train-12.log", ""),  # too short
        ("epoch-123.log", ""),
        ("train-20240501.log", ""),
        ("train-2024-05-01_10-15-00.log", ""),
        ("train-1714550000.log", ""),
        ("train.log", ""),
    ],
)
def test_job_id(name: str, job: str) -> None:
    assert job_id(name) == job


@pytest.mark.parametrize("name", ["A.out", "a.err", "x/a.log.1", "a.log.2.gz"])
def test_stem_of(name: str) -> None:
    assert stem_of(name) == "a"


@pytest.mark.parametrize(
    ("logs", "groups"),
    [
        (["slurm-1.err", "slurm-1.out"], [["slurm-1.out", "slurm-1.err"]]),
        (["slurm-1.out", "slurm-2.out"], [["slurm-1.out"], ["slurm-2.out"]]),
        (["train.log", "stderr.txt", "rank_0.log"], [["rank_0.log", "train.log", "stderr.txt"]]),
        (["resnet.log", "vit.log"], [["resnet.log"], ["vit.log"]]),
        (["resnet.log", "train.log"], [["resnet.log", "train.log"]]),
    ],
)
def test_by_job(logs: list[str], groups: list[list[str]]) -> None:
    assert by_job(logs) == groups
