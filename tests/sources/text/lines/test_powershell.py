"""Errors that PowerShell redirected are read as the program printed them."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.lines import powershell

HEAD = (
    "python.exe : Traceback (most recent call last):\nAt line:1 char:1\n+ python train.py 2> err.txt\n"
    "+ ~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
    "    + CategoryInfo          : NotSpecified: (Traceback (most recent call last)::String) [], RemoteException\n"
    "    + FullyQualifiedErrorId : NativeCommandError\n \n"
)
FOLDER = r"C:\Users\me\projects\segmentation\code\of\the\second\paper"
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
    "GPU 0 has a total capacity of 23.99 GiB of which 1.20 GiB is free."
)
TRACE = (
    f'  File "{FOLDER}\\train.py", line 40, in <module>\n    main()\n'
    f'  File "{FOLDER}\\train.py", line 31, in main\n    loss.backward()\n{OOM}\n'
)
NUMBERS = "step 1 loss 0.5\nstep 2 loss 0.25\n"


def cut(text: str, width: int) -> str:
    """The text with lines cut at a width, as PowerShell writes it."""
    lines = text.removesuffix("\n").split("\n")
    pieces = [line[i : i + width] for line in lines for i in range(0, max(len(line), 1), width)]
    return "".join(f"{piece}\r\n" for piece in pieces)


def read(path: Path, text: str, encoding: str = "utf-16") -> Tables:
    path.write_bytes(text.encode(encoding))
    return Tables.concat(reader.read(path))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("width", [70, 80, 119, 120, 1000])
def test_cut_lines_are_joined(tmp_path, width, encoding):
    tables = read(tmp_path / "err.txt", NUMBERS + cut(HEAD + TRACE, width), encoding)
    rows = (NUMBERS + cut(HEAD + TRACE, width)).split("\n")
    line = next(number for number, row in enumerate(rows, 1) if row.startswith("torch."))
    (block,) = tables.blocks.to_dicts()

    assert (block["exception"], block["frame"]) == ("torch.OutOfMemoryError", f"{FOLDER}\\train.py:31 in main")
    assert (block["first_line"], block["last_line"]) == (3, line)
    assert tables.lines.filter(pattern="cuda-oom").select("line", "text").rows() == [(line, OOM)]
    assert tables.points["value"].to_list() == [0.5, 0.25]
    assert tables.sessions["status"].to_list() == ["failed"]


def test_a_script_names_the_place(tmp_path):
    head = HEAD.replace("At line:1", r"At C:\jobs of mine\run.ps1:3").replace("python.exe", r"C:\Py\python.exe")
    tables = read(tmp_path / "err.txt", cut(head + TRACE, 80))
    assert tables.blocks.select("first_line", "exception").rows() == [(1, "torch.OutOfMemoryError")]


def test_lines_of_other_lengths_stay(tmp_path):
    """Without two lines of one length nothing is joined."""
    tables = read(tmp_path / "err.txt", HEAD.replace("\n", "\r\n") + "ValueError: bad\r\n")
    assert tables.lines.filter(part="root").select("line", "text").rows() == [(8, "ValueError: bad")]


@pytest.mark.parametrize(("text", "expected"), [(HEAD, True), (TRACE, False), ("", False)])
def test_recognised_by_its_own_words(text, expected):
    assert powershell.is_redirected(text.encode("utf-16")) is expected
