"""Stacks of running processes inside a log."""

from pathlib import Path

from loganalyst import diagnose

WAITS = ("all_reduce (torch/distributed/distributed_c10d.py:2450)", "reduce_loss (train.py:88)")
LOADS = ("__next__ (torch/utils/data/dataloader.py:630)", "train (train.py:121)")
STEPS = "".join(f"step {i} loss {3 - i / 30:.3f}\n" for i in range(30))
FAULT_FRAMES = (
    '  File "/site-packages/torch/serialization.py", line 850 in save\n  File "/me/train.py", line 171 in dump\n'
)


def py_spy(rank: int, frames: tuple[str, ...]) -> str:
    """What `py-spy dump` prints of one rank."""
    head = f"Process {70 + rank}: python train.py --local-rank {rank}\nPython v3.10.12 (/usr/bin/python3.10)\n\n"
    return f'{head}Thread {70 + rank} (active): "MainThread"\n' + "".join(f"    {frame}\n" for frame in frames) + "\n"


def stacks(folder: Path, text: str) -> list[tuple[object, ...]]:
    (folder / "train.log").write_text(text)
    blocks = diagnose(folder / "train.log").run.blocks.filter(kind="stack")
    return list(blocks.select("rank", "first_line", "last_line", "message", "frame").iter_rows())


def test_a_dump_between_other_lines(tmp_path: Path) -> None:
    dump = py_spy(0, WAITS) + py_spy(1, LOADS)

    assert stacks(tmp_path, STEPS + dump + "slurmstepd: error: something\n") == [
        (0, 31, 37, "collective: all_reduce", "train.py:88 in reduce_loss"),
        (1, 38, 44, "loader: __next__", "train.py:121 in train"),
    ]


def test_a_prefix_names_the_rank(tmp_path: Path) -> None:
    dump = "Timeout (0:30:00)!\nThread 0x00007f3b (most recent call first):\n" + FAULT_FRAMES
    of_rank = "".join(f"[rank3]: {line}\n" for line in dump.splitlines())

    assert stacks(tmp_path, STEPS + of_rank) == [(3, 32, 34, "checkpoint: save", "/me/train.py:171 in dump")]


def test_the_stack_of_a_crash_is_no_dump(tmp_path: Path) -> None:
    crash = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f3b (most recent call first):\n"

    assert stacks(tmp_path, STEPS + crash + FAULT_FRAMES) == []


def test_training_that_went_on_does_not_hang(tmp_path: Path) -> None:
    """A dump in the midst of a log shows a moment."""
    dump = py_spy(0, WAITS) + py_spy(1, LOADS)
    (tmp_path / "train.log").write_text(STEPS + dump + STEPS.replace("step ", "step 3"))
    done = diagnose(tmp_path / "train.log")

    assert done.run.blocks.filter(kind="stack").height == 2
    assert done.features.values.get("stack_count") is None
    assert "rank-elsewhere" not in [cause.id for cause in done.causes]
