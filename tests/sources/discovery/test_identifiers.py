"""Identifiers that runs and logs state."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from loganalyst.sources.discovery.identifiers import END_BYTES, ends, log_identifiers, run_identifiers


def test_a_run_states_its_job_cluster_and_start(tmp_path: Path) -> None:
    root = tmp_path / "run-20240501_101500-3f9a1c02"
    root.mkdir()
    (root / "config.yaml").write_text("slurm:\n  SLURM_JOB_ID: 123\n  cluster_name: alps\n")
    (root / "events.out.tfevents.1714550000.host").write_text("SLURM_JOB_ID=9")  # not searched: it is binary
    (root / "slurm-77.out").write_text("hello")
    found = run_identifiers(root, sorted(root.iterdir()))

    assert found.jobs == {"123": "config.yaml", "77": "the name of slurm-77.out"}
    assert (found.cluster, found.wandb) == ("alps", "3f9a1c02")
    assert found.started == datetime(2024, 5, 1, 7, 53, 20, tzinfo=UTC)


def test_a_wandb_file_states_its_job(tmp_path: Path) -> None:
    (tmp_path / "run-x.wandb").write_bytes(b"\x00\x01\x06job_id\x12\x05123_4\x0ccluster_name\x12\x04alps\xff")
    found = run_identifiers(tmp_path, [tmp_path / "run-x.wandb"])

    assert found.jobs == {"123_4": "run-x.wandb"}
    assert found.cluster == "alps"


@pytest.mark.parametrize(
    ("name", "text", "jobs"),
    [
        ("slurm-5.out", "SLURM_JOB_ID=123\n", {"5"}),
        ("train.out", "SLURM_JOB_ID=123\n", {"123"}),
        ("train.out", "job id 1\njob id 2\n", set()),
        ("train.out", "SLURM_ARRAY_JOB_ID=8 SLURM_ARRAY_TASK_ID=3\n", {"8_3"}),
    ],
)
def test_jobs_of_a_log(tmp_path: Path, name: str, text: str, jobs: set[str]) -> None:
    (tmp_path / name).write_text(text)

    assert log_identifiers(tmp_path / name).jobs == jobs


def test_a_log_states_times_and_paths_of_its_own_run(tmp_path: Path) -> None:
    (tmp_path / "a.out").write_text(
        "2024-05-01 10:15:00 Loading checkpoint /runs/6/last.pt\n"
        "2024-05-01 11:15:00 saving to /runs/7/ckpt.\n"
        "2024-13-01 11:15:00 no date\n"
        "https://wandb.ai/t/p/runs/3f9a1c02\n"
    )
    found = log_identifiers(tmp_path / "a.out")

    assert "\n/runs/7/ckpt/" in found.paths
    assert "/runs/6" not in found.paths
    assert found.wandb == {"3f9a1c02"}
    assert (found.first, found.last) == (
        datetime(2024, 5, 1, 10, 15, tzinfo=UTC),
        datetime(2024, 5, 1, 11, 15, tzinfo=UTC),
    )


def test_ends_of_a_large_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a" * END_BYTES + b"-" * 99 + b"b" * END_BYTES)

    assert ends(tmp_path / "a") == b"a" * END_BYTES + b"\n" + b"b" * END_BYTES
    assert ends(tmp_path / "missing") == b""
