"""The lines of a traceback."""

import pytest

from loganalyst.sources.text.tracebacks import tracelines


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
