"""The kind of device that a log names, and its terms in the fixes."""

from pathlib import Path

import pytest

from loganalyst import diagnose

TRACE = 'Traceback (most recent call last):\n  File "/a/train.py", line 8, in <module>\n    step()\n'


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("RuntimeError: HIP error: an illegal memory access was encountered", "rocm"),
        ("torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.", "rocm"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "cuda"),
        (
            "RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::1073741824 (1024)MB",
            "hpu",
        ),
        ('RuntimeError: nrt_tensor_allocate status=4 message="Allocation Failure"', "neuron"),
        ("RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)", "xpu"),
        ("RuntimeError: MPS backend out of memory (MPS allocated: 16.98 GB, max allowed: 18.13 GB).", "mps"),
    ],
)
def test_fixes_use_the_terms_of_the_device(tmp_path: Path, line: str, name: str) -> None:
    (tmp_path / "job.log").write_text(f"step 1 loss 2.0\nstep 2 loss 1.9\n{TRACE}{line}\n")
    done = diagnose(tmp_path / "job.log")
    fixes = " ".join(fix.change for fix in done.causes[0].fix)

    assert done.features.values["accelerator"] == name
    assert ("CUDA_LAUNCH_BLOCKING" in fixes or "nvidia-smi" in fixes) == (name == "cuda")


def test_a_log_without_an_error_of_a_device_shows_none(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(f"step 1 loss 2.0\n{TRACE}KeyError: 'a'\n")

    assert diagnose(tmp_path / "job.log").features.values["accelerator"] is None
