"""Frames of tracebacks."""

import pytest

from loganalyst.sources.text.tracebacks import chains
from tests.sources.text.tracebacks.traceback_cases import rows


@pytest.mark.parametrize(
    ("path", "library"),
    [
        (r"D:\Anaconda3\lib\threading.py", True),
        (r"C:\Users\me\miniconda3\envs\p\lib\multiprocessing\spawn.py", True),
        (r"F:\kohya_ss\venv\lib\runpy.py", True),
        ("/opt/conda/conda-bld/pytorch_1/work/torch/autograd/__init__.py", True),
        ("/proj/transformers-4.40.1/src/transformers/trainer.py", True),
        ("/proj/DeepSpeed/deepspeed/runtime/engine.py", True),
        ("h5py/h5o.pyx", True),  # compiled code
        ("pandas/_libs/hashtable_class_helper.pxi", True),
        ("stringsource", True),
        ("/home/me/torch/train.py", False),
        ("/home/me/transformers/examples/train.py", False),
        ("/home/me/deepspeed/train.py", False),
        (r"C:\work\lib\model.py", False),
    ],
)
def test_paths_of_libraries(path: str, library: bool) -> None:
    """Python's own files on Windows and checkouts of libraries are libraries; projects with similar names are not."""
    found = chains.find(
        rows(
            "Traceback (most recent call last):",
            '  File "/home/me/main.py", line 1, in run',
            f'  File "{path}", line 2, in f',
            "KeyError: 'x'",
        )
    )

    assert [one.frame for one in found] == ["/home/me/main.py:1 in run" if library else f"{path}:2 in f"]
