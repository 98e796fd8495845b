"""Which ranks wait in a collective, and what the others do, by dumps of stacks."""

from pathlib import Path

import pytest

from loganalyst import diagnose

WAITS = "    all_reduce (torch/distributed/distributed_c10d.py:2450)\n    reduce_loss (train.py:88)\n"
LOADS = "    select (selectors.py:415)\n    __next__ (torch/utils/data/dataloader.py:631)\n    epoch (train.py:125)\n"
SAVES = "    save (torch/serialization.py:629)\n    save_checkpoint (train.py:171)\n"
WORKS = "    _worker_loop (torch/utils/data/_utils/worker.py:309)\n"


def dumped(folder: Path, *stacks: str) -> dict[str, object]:
    (folder / "train.log").write_text("".join(f"step {i} loss {3 - i / 30:.3f}\n" for i in range(30)))
    for rank, stack in enumerate(stacks):
        text = f'Process {70 + rank}: python train.py\nThread {70 + rank} (active): "MainThread"\n{stack}'
        (folder / f"pyspy_rank{rank}.txt").write_text(text)
    done = diagnose(folder)
    causes = [cause.id for cause in done.causes]
    return {**done.features.values, "causes": causes}


def test_the_odd_one_out(tmp_path: Path) -> None:
    values = dumped(tmp_path, WAITS, LOADS, WAITS, WAITS)

    assert values["causes"] == ["rank-elsewhere"]
    assert (values["stack_count"], values["stack_waiting_count"], values["stack_waiting"]) == (4, 3, "ranks 0, 2-3")
    assert (values["stack_operation"], values["stack_frame"]) == ("all_reduce", "train.py:88 in reduce_loss")
    assert (values["stack_elsewhere"], values["stack_elsewhere_place"], values["stack_elsewhere_frame"]) == (
        "rank 1",
        "waiting for its data loader",
        "train.py:125 in epoch",
    )


def test_all_in_one_collective(tmp_path: Path) -> None:
    values = dumped(tmp_path, WAITS, WAITS)

    assert (values["stack_elsewhere_count"], values["stack_place"], values["causes"]) == (0, "in a collective", [])


def test_workers_of_data_loaders_are_no_ranks(tmp_path: Path) -> None:
    values = dumped(tmp_path, WAITS, WAITS, SAVES, WORKS)

    assert (values["stack_count"], values["stack_elsewhere"]) == (3, "rank 2")
    assert values["stack_elsewhere_place"] == "saving or loading a checkpoint"


def test_nobody_waits(tmp_path: Path) -> None:
    values = dumped(tmp_path, LOADS, SAVES)

    assert (values["stack_count"], values["stack_waiting_count"], values["causes"]) == (2, None, [])


@pytest.mark.parametrize(("end", "causes"), [("", ["hung"]), ("Training finished.\n", [])])
def test_a_run_that_stopped_while_a_process_waited(tmp_path: Path, end: str, causes: list[str]) -> None:
    """One process that waits for the device is enough; a run that reports its end is healthy."""
    log = "".join(f"step {i}/400 loss {3 - i / 30:.3f}\n" for i in range(30))
    (tmp_path / "train.log").write_text(log + end)
    stack = "    synchronize (torch/cuda/__init__.py:954)\n    reduce_loss (train.py:88)\n"
    (tmp_path / "pyspy_rank0.txt").write_text(f'Process 7: python train.py\nThread 7 (idle): "MainThread"\n{stack}')
    done = diagnose(tmp_path)

    assert done.features.values["stack_held_place"] == "waiting for the device"
    assert [cause.id for cause in done.causes] == causes
