"""What a process does, by its stacks."""

import pytest

from loganalyst.sources.stackdump.doings import Done, done
from loganalyst.sources.stackdump.stacks import of_text


def doing(*threads: tuple[str, tuple[str, ...]]) -> Done:
    lines = [
        line for name, frames in threads for line in (f'Thread 7 (active): "{name}"', *(f"    {f}" for f in frames))
    ]
    (process,) = of_text("\n".join(lines))
    return done(process)


STEP = "step (train.py:8)"
COLLECTIVE = "all_reduce (torch/distributed/distributed_c10d.py:2450)"
SAVING = "_save (torch/serialization.py:865)"
LOADING = "_try_get_data (torch/utils/data/dataloader.py:1133)"


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ((COLLECTIVE, STEP), "collective"),
        ((SAVING, STEP), "checkpoint"),
        ((COLLECTIVE, SAVING, STEP), "collective"),
        (("select (selectors.py:415)", LOADING, STEP), "loader"),
        (("_worker_loop (torch/utils/data/_utils/worker.py:309)", STEP), "worker"),
        (("matmul (torch/functional.py:3)", "evaluate (train.py:99)"), "evaluation"),
        (("recv (socket.py:3)", STEP), "network"),
        (("sleep (train.py:8)",), None),
        (("synchronize (torch/cuda/__init__.py:954)", COLLECTIVE, STEP), "collective"),
        (("recv (socket.py:3)", "acquire (threading.py:3)", COLLECTIVE, STEP), "collective"),
        (("cudaStreamSynchronize (libcudart.so.12)", "at::native::item (libtorch.so)", STEP), "device"),
        (("synchronize (torch/cuda/__init__.py:954)", STEP, "evaluate (train.py:99)"), "device"),
    ],
)
def test_the_innermost_known_frame_decides(frames: tuple[str, ...], expected: str | None) -> None:
    """A call that waits for the device, the network or a lock is what that call is for."""
    assert doing(("MainThread", frames)).doing == expected


def test_the_frame_is_the_users_own() -> None:
    installed = "load (/opt/venv/lib/python3.11/site-packages/x/y.py:3)"
    frames = ("wait (threading.py:324)", LOADING, installed, "step (src/train.py:8)")

    assert doing(("MainThread", frames)) == Done("loader", "_try_get_data", "src/train.py:8 in step")


def test_in_a_backward_pass_the_thread_in_a_collective_decides() -> None:
    main = ("MainThread", ("backward (torch/autograd/__init__.py:266)", "step (train.py:8)"))
    hook = ("", ("all_gather (torch/distributed/distributed_c10d.py:2709)", "hook (zero/stage3.py:10)"))

    assert doing(main, hook) == Done("collective", "all_gather", "train.py:8 in step")
