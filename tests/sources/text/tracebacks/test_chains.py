import io
import runpy
import traceback
from pathlib import Path

import polars as pl
import pytest
from rich import traceback as boxes
from rich.console import Console

from loganalyst.sources.text.tracebacks import chains
from loganalyst.sources.text.tracebacks.tracelines import HEADER, Printer, printers
from loganalyst.sources.text.tracebacks.traces import Traceback


def rows(*lines: str) -> list[Printer]:
    """Lines as `prefix|body`, or without a prefix, by printer."""
    parts = [line.partition("|") if "|" in line else ("", "", line) for line in lines]
    return printers(pl.DataFrame({"prefix": [p for p, _, _ in parts], "body": [b for _, _, b in parts]}))


def told(found: list[Traceback]) -> list[tuple[str | None, str | None]]:
    return [(one.exception, one.message) for one in found]


def printed(error: BaseException) -> list[str]:
    return "".join(traceback.format_exception(error)).rstrip("\n").split("\n")


def raised(kind: type[Exception], text: str, cause: Exception | None = None, *, during: bool = False) -> Exception:
    """An exception with a real traceback, raised from `cause` or while handling it."""
    try:
        try:
            if cause:
                raise cause
        except Exception as first:
            raise kind(text) from (None if during is None else first if not during else first.__cause__)
        raise kind(text)
    except Exception as error:
        return error


def test_one_traceback() -> None:
    """Header, exception, message and the innermost own frame of what Python printed are found."""
    lines = ["starting", *printed(raised(ValueError, "bad shard")), "after"]
    (found,) = chains.find(rows(*lines))

    assert (found.head, found.row) == (1, len(lines) - 2)
    assert (found.exception, found.message) == ("ValueError", "bad shard")
    assert found.frame is not None
    assert found.frame.startswith(__file__)
    assert found.frame.endswith(" in raised")
    assert found.harmless is False


def test_a_chain_is_one_chain() -> None:
    """The exceptions of a chain, in the order printed, share its number; the next traceback has another."""
    chain = printed(raised(RuntimeError, "second", KeyError("first")))
    found = chains.find(rows(*chain, *printed(raised(OSError, "third"))))

    assert [one.exception for one in found] == ["KeyError", "RuntimeError", "OSError"]
    first, second, third = (one.chain for one in found)
    assert first == second != third


def test_ranks_are_taken_apart() -> None:
    """Two ranks that print line by line in turn give two whole tracebacks."""
    one, two = printed(raised(ValueError, "of one")), printed(raised(TypeError, "of two"))
    lines = [line for pair in zip(one, two, strict=True) for line in (f"[rank1]: |{pair[0]}", f"[rank2]: |{pair[1]}")]
    found = chains.find(rows(*lines))

    assert told(found) == [("ValueError", "of one"), ("TypeError", "of two")]
    assert [one.chain for one in found] == [1, 2]


def test_library_frames_are_not_the_users() -> None:
    """Frames in site-packages are passed over for the innermost frame of the user's code."""
    found = chains.find(
        rows(
            "Traceback (most recent call last):",
            '  File "/home/me/train.py", line 12, in step',
            "    loss.backward()",
            '  File "/opt/env/lib/python3.11/site-packages/torch/_tensor.py", line 5, in backward',
            "    engine()",
            "RuntimeError: no",
        )
    )

    assert [one.frame for one in found] == ["/home/me/train.py:12 in step"]


@pytest.mark.parametrize(
    ("path", "library"),
    [
        (r"D:\Anaconda3\lib\threading.py", True),
        (r"C:\Users\me\miniconda3\envs\p\lib\multiprocessing\spawn.py", True),
        (r"F:\kohya_ss\venv\lib\runpy.py", True),
        ("/opt/conda/conda-bld/pytorch_1/work/torch/autograd/__init__.py", True),
        ("/proj/transformers-4.40.1/src/transformers/trainer.py", True),
        ("/proj/DeepSpeed/deepspeed/runtime/engine.py", True),
        ("/home/me/torch/train.py", False),
        ("/home/me/transformers/examples/train.py", False),
        ("/home/me/deepspeed/train.py", False),
        (r"C:\work\lib\model.py", False),
    ],
)
def test_whose_frame_it_is(path: str, library: bool) -> None:
    """Python's own on Windows and checkouts of libraries are passed over; projects that are named like one are not."""
    found = chains.find(
        rows(
            "Traceback (most recent call last):",
            '  File "/home/me/main.py", line 1, in run',
            f'  File "{path}", line 2, in f',
            "KeyError: 'x'",
        )
    )

    assert [one.frame for one in found] == ["/home/me/main.py:1 in run" if library else f"{path}:2 in f"]


def test_an_exception_of_any_name_right_below_the_frames() -> None:
    """A class without the usual ending counts where it follows the frames."""
    found = chains.find(rows("Traceback (most recent call last):", '  File "a.py", line 1, in f', "my.Boom: x"))

    assert told(found) == [("my.Boom", "x")]


def test_a_foreign_line_inside() -> None:
    """A line another process wrote between header and exception does not end the block."""
    found = chains.find(
        rows(
            "Traceback (most recent call last):",
            "srun: error: n2: task 0: Exited with exit code 1",
            "  x",
            "OSError: y",
        )
    )

    assert [(one.head, one.row) for one in found] == [(0, 3)]


def test_cut_off() -> None:
    """A traceback without its last line has no exception, and its header is still open."""
    cut = rows("a", "Traceback (most recent call last):", '  File "a.py", line 1, in f')

    assert [one.row for one in chains.find(cut)] == [None]
    assert chains.unfinished(cut) == 1
    assert chains.unfinished(rows("a", "b", "c")) is None


def test_clean_up_noise_is_harmless() -> None:
    """What the interpreter prints while it shuts down is marked."""
    found = chains.find(rows("Exception ignored in: <f>", *printed(raised(ValueError, "late"))))

    assert [one.harmless for one in found] == [True]


def test_what_a_finaliser_raises_is_harmless() -> None:
    """Python ignores it, and prints so in a line above, which a log that begins in the midst does not have."""
    frames = ('  File "tk.py", line 4017, in __del__', "    self.tk.call()")
    called = ('  File "a.py", line 1, in <module>', "    f()", *frames)
    found = [chains.find(rows("Traceback (most recent call last):", *f, "RuntimeError: x")) for f in (frames, called)]

    assert [one.harmless for (one,) in found] == [True, False]


def test_rich_traceback() -> None:
    """The boxed form is read too: frames inside, exception below."""
    found = chains.find(
        rows(
            "╭───── Traceback (most recent call last) ─────╮",
            "│ /home/me/train.py:7 in main                 │",
            "│                                             │",
            "╰─────────────────────────────────────────────╯",
            "ValueError: boxed",
        )
    )

    assert [(one.exception, one.frame) for one in found] == [("ValueError", "/home/me/train.py:7 in main")]


@pytest.mark.parametrize("width", range(40, 100))
def test_a_box_cuts_a_place_anywhere(width: int, tmp_path: Path) -> None:
    """Rich breaks a line within the path, between it and the number, within the number, and before the function."""
    out, script = io.StringIO(), tmp_path / "train.py"
    script.write_text("\n" * 1233 + "def fit(): {}['late']\nfit()")
    try:
        runpy.run_path(str(script))
    except KeyError as error:
        Console(file=out, width=width).print(boxes.Traceback.from_exception(KeyError, error, error.__traceback__))

    (found,) = chains.find(rows(*out.getvalue().splitlines()))

    assert (found.exception, found.frame) == ("KeyError", f"{script}:1234 in fit")


FRAME = '  File "/a.py", line {}, in {}'
CHAIN = "During handling of the above exception, another exception occurred:"


def test_a_chain_that_may_go_on_is_held() -> None:
    """From its first header: where the exception has just been printed, and where the next is announced."""
    chain = [HEADER + ":", FRAME.format(3, "f"), "KeyError: 1", "", CHAIN, ""]

    assert chains.unfinished(rows("a", *chain[:3])) == 1
    assert chains.unfinished(rows("a", *chain)) == 1
    assert chains.unfinished(rows("a", *chain, HEADER, FRAME.format(4, "g"))) == 1
    assert chains.unfinished(rows("a", *chain, HEADER, "OSError: 2", *"abcdefgh")) is None


def test_no_other_ranks_traceback_is_cut() -> None:
    """What is held begins where no rank is within a traceback."""
    one = ["1|" + line for line in (HEADER, FRAME.format(3, "f"), "KeyError: 1", *"abcdefgh")]
    two = ["2|" + line for line in (HEADER, FRAME.format(3, "f"))]

    assert chains.unfinished(rows("x", one[0], two[0], *one[1:], two[1])) == 1
    assert chains.unfinished(rows("x", *one[:3], two[0], *one[3:], two[1])) == 4


@pytest.mark.parametrize(
    ("said", "endings", "frames"),
    [
        (["H", "H", "3", "3", "AError", "BError"], ["AError", "BError"], [3, 3]),
        (["H", "3", "H", "AError", "3", "BError"], ["AError", "BError"], [3, 3]),
        (["H", "H", "3", "AError", "4", "BError"], ["AError", "BError"], [None, None]),
        (["H", "3", "H", "4", "AError", "BError"], ["AError", "BError"], [None, None]),
        (["H", "H", "3", "3", "AError", "H", "3", "BError", "CError"], ["AError", "BError", "CError"], [3, 3, 3]),
        (
            ["H", "H", "3", "4", "AError", "H", "5", "BError", "CError"],
            ["AError", "BError", "CError"],
            [None, None, None],
        ),
        (["H", "3", "H", "4", "AError"], [None, "AError"], [3, None]),
        (["H", "3", "killed", "H", "4", "AError"], [None, "AError"], [3, 4]),
        (["H", "H", "4", "AError"], [None, "AError"], [None, None]),
        (["H", "3", "H", "4", "AError", "on", "H", "5", "BError"], [None, "AError", "BError"], [3, None, None]),
        (["H", "3", "on", "H", "4", "5", "AError"], [None, "AError"], [3, 5]),
        (["H", "3", "on", "H", "4", "    a()", "    b()", "AError"], [None, "AError"], [3, None]),
        (["H", "3", "on", "H", "4", "AError", "on", "BError"], [None, "AError"], [3, None]),
    ],
)
def test_processes_that_print_at_once(said: list[str], endings: list[str | None], frames: list[int | None]) -> None:
    """`H` is a header, a number the line of a frame: exceptions in the order printed; no frame where it is not known
    whose it is.
    """
    text = [HEADER + ":" if line == "H" else FRAME.format(line, "f") if line.isdigit() else line for line in said]
    found = chains.find(rows(*text))

    assert [one.exception for one in found] == endings
    assert [one.frame for one in found] == [line and f"/a.py:{line} in f" for line in frames]
