"""The kinds of the lines of a traceback."""

import pytest

from loganalyst.sources.text.tracebacks import chains, tracelines
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


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("torch.cuda.OutOfMemoryError: CUDA out of memory", "torch.cuda.OutOfMemoryError", "CUDA out of memory"),
        ("KeyboardInterrupt", "KeyboardInterrupt", None),
        ("RayTaskError(ValueError): x", "RayTaskError(ValueError)", "x"),
        ("step 3 loss 0.5", None, None),
        ("  ValueError: x", None, None),
    ],
)
def test_the_line_of_an_exception(text: str, name: str | None, says: str | None) -> None:
    found = tracelines.Lines(["Traceback (most recent call last):", text], 0).ending(1)

    assert (found and found.name, found and found.says) == (name, says)


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ('  File "/home/me/a.py", line 3, in main', "/home/me/a.py:3 in main"),
        ('  File "/home/me/a.py", line 3', "/home/me/a.py:3 in ?"),
        ("│ /home/me/a.py:3 in main        │", "/home/me/a.py:3 in main"),
        ('  File "/x/site-packages/torch/a.py", line 3, in f', None),
        ("    call()", None),
    ],
)
def test_the_line_of_a_frame(text: str, frame: str | None) -> None:
    assert tracelines.Lines([text], 0).frame(0) == frame


def test_a_margin_is_removed() -> None:
    """A line without the margin belongs to another process."""
    found = tracelines.without_margins(["  | Traceback (most recent call last):", '  |   File "a.py"', "x"], 0, 3)

    assert found.text == ["Traceback (most recent call last):", '  File "a.py"', "? x"]
    assert found.depth == 2
