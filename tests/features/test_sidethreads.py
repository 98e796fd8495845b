"""Exceptions of threads, which the program outlived."""

from pathlib import Path

from loganalyst import diagnose

STEPS = [f"step {i} loss {3 / (i + 1):.4f}\n" for i in range(60)]
FRAME = '  File "/usr/lib/python3.10/threading.py", line 1016, in _bootstrap_inner\n    self.run()\n'
THREAD = f"Exception in thread Thread-3 (watch):\nTraceback (most recent call last):\n{FRAME}"


def test_a_thread_that_ended_is_noted(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(
        "".join([*STEPS[:20], THREAD, "ValueError: bad reading\n", *STEPS[20:], "Training finished\n"])
    )
    found = diagnose(tmp_path / "job.log")

    assert (found.status, found.run.status) == ("healthy", "finished")
    assert found.features.values["log_thread_count"] == 1
    assert found.features.values["log_thread_message"] == "ValueError: bad reading"
    assert (found.features.values["log_thread_at"], found.features.values["log_thread_progress"]) == ("job.log:25", 40)
    assert "thread-ended" in [note.id for note in found.notes]


def test_the_cause_itself_is_no_such_thread(tmp_path: Path) -> None:
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    (tmp_path / "job.log").write_text("".join([*STEPS, THREAD, oom]))
    found = diagnose(tmp_path / "job.log")

    assert [cause.id for cause in found.causes][:1] == ["cuda-out-of-memory"]
    assert found.features.values["log_thread_count"] == 0
