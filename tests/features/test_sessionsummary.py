"""The sessions of a run with their root-cause lines."""

from pathlib import Path

from loganalyst import diagnose

OOM = "step 5 loss 2.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 is full\n"


def test_one_summary_for_each_session(tmp_path: Path) -> None:
    (tmp_path / "slurm-7.out").write_text(OOM)
    (session,) = diagnose(tmp_path / "slurm-7.out").sessions

    assert (session.index, session.first_line, session.status) == (0, 1, "failed")
    assert (session.label, session.file, session.line) == ("cuda_oom", "slurm-7.out", 2)
    assert (session.pattern, session.message, session.last_step) == ("cuda-oom", OOM.splitlines()[1], None)


def test_a_run_without_logs_has_no_session(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(40)))

    assert diagnose(tmp_path).sessions == ()
