"""Faults that the program caught by its own words."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.patterns.handledfaults import says_handled

OOM = "CUDA out of memory. Tried to allocate 2.00 GiB."
TRACE = (
    'Traceback (most recent call last):\n  File "a.py", line 4, in {}\n    main()\nRuntimeError: cannot open b.mp4\n'
)


@pytest.mark.parametrize(
    ("message", "handled"),
    [
        ("config bs=512 failed: CUDA out of memory, skipping", True),
        ("attempt 1 failed: connection reset by peer, retrying", True),
        ("SVD did not converge, using the naive forecast", True),
        ("AutoBatch: CUDA anomaly detected, using default batch-size 16.", True),
        ("loading with strict=False instead of True: loading a part instead", True),
        ("auto batch size: trying 128", True),
        ("RuntimeError: cannot map the file, trying to read it without mmap", True),
        ("try #2", True),
        ("Matplotlib created a temporary cache directory at /tmp/m-1 because /root/.config is not writable", True),
        ("the job created a temporary file that it cannot read", False),
        ("attempt 3 failed: connection reset by peer, giving up", False),
        ("HTTPSConnectionPool: Max retries exceeded with url: /a", False),
        ("bash: fork: retry: Resource temporarily unavailable", False),
        ("np.float was removed, use float instead", False),
        ("python: Error while finding module specification for 'a.py' (...). Try using 'a' instead of 'a.py'", False),
        ("RuntimeError: no kernel image is available. Consider running on a newer GPU instead.", False),
        ("error: unrecognized arguments: --gpu 1. Try running with --device cuda:1 instead", False),
        ("flash_attn is not installed, using sdpa instead", True),
        ("CUDA is not available using cpu instead", True),
        ("Please check the target modules and try again.", False),
        ("ReadTimeoutError: HTTPSConnectionPool(host='i.example.org', port=443): Read timed out.   (try 1/4)", True),
        ("ReadTimeoutError: HTTPSConnectionPool(host='i.example.org', port=443): Read timed out. (try 4/4)", False),
        (" 32768 │ naive │ out of memory (torch.OutOfMemoryError: CUDA out of memory.) │ — │ —", True),
        ("│ RuntimeError: CUDA out of memory. │", False),
        ("trial killed, no configuration left", False),
    ],
)
def test_words_of_handling(message: str, *, handled: bool) -> None:
    """Only what the program does about the error counts, not advice."""
    assert says_handled(pl.Series([message])).to_list() == [handled]


def parts(path: Path, text: str) -> list[str]:
    path.write_text(text)
    lines = Tables.concat(reader.read(path)).lines
    return lines.filter(pl.col("label").is_not_null())["part"].to_list()


def test_a_line_that_says_so_is_no_fault(tmp_path: Path) -> None:
    """By its own words, or by the next line."""
    assert parts(tmp_path / "a.log", f"{OOM} skipping this size\nscore 1\n") == ["advice"]
    assert parts(tmp_path / "b.log", f"{OOM}\nauto batch size: trying 128\n") == ["advice"]
    assert parts(tmp_path / "c.log", f"{OOM}\nexiting\n")[0] == "root"


@pytest.mark.parametrize(("function", "status"), [("one", "unknown"), ("<module>", "failed")])
def test_a_traceback_that_the_program_printed(tmp_path: Path, function: str, status: str) -> None:
    """What the interpreter printed ended the program, whatever a script says then."""
    log = tmp_path / "a.log"
    log.write_text("read 3 files\n" + TRACE.format(function) + "b.mp4 failed, skipped\nread 9 files\n")
    assert Tables.concat(reader.read(log)).sessions["status"].to_list() == [status]
