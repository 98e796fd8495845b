"""The batch system that ran the job, and its terms."""

from pathlib import Path

import pytest

from loganalyst import diagnose


@pytest.mark.parametrize(
    ("line", "name", "memory"),
    [
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.", "slurm", "--mem"),
        ("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", "lsf", "bsub -M and -R 'rusage[mem=…]'"),
        ("=>> PBS: job killed: walltime 3605 exceeded limit 3600", "pbs", "qsub -l select=1:mem=…"),
        ("  Reason:       OOMKilled", "kubernetes", "resources.limits.memory of the container"),
    ],
)
def test_the_words_of_a_log_show_it(tmp_path: Path, line: str, name: str, memory: str) -> None:
    (tmp_path / "job.log").write_text(f"step 1 loss 2.0\nstep 2 loss 1.9\n{line}\n")
    values = diagnose(tmp_path / "job.log").features.values

    assert (values["scheduler"], values["scheduler_memory"]) == (name, memory)


def test_a_log_without_such_words_shows_none(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("step 1 loss 2.0\nTraceback (most recent call last):\nKeyError: 'a'\n")

    assert diagnose(tmp_path / "job.log").features.values["scheduler"] is None
