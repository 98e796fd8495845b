import io
import runpy
from pathlib import Path

import pytest
from rich import traceback as boxes
from rich.console import Console

from loganalyst.sources.text.tracebacks import chains
from loganalyst.sources.text.tracebacks.headers import HEADER
from tests.sources.text.tracebacks.traceback_cases import FRAME, messages, printed, raised, rows


def test_a_chain_is_one_chain() -> None:
    """The exceptions of a chain, in the order printed, share its number; the next traceback has another."""
    chain = printed(raised(RuntimeError, "second", KeyError("first")))
    found = chains.find(rows(*chain, *printed(raised(OSError, "third"))))

    assert [one.exception for one in found] == ["KeyError", "RuntimeError", "OSError"]
    first, second, third = (one.chain for one in found)
    assert first == second != third


def test_ranks_are_separated() -> None:
    """Two ranks that print line by line in turn give two whole tracebacks."""
    one, two = printed(raised(ValueError, "of one")), printed(raised(TypeError, "of two"))
    lines = [line for pair in zip(one, two, strict=True) for line in (f"[rank1]: |{pair[0]}", f"[rank2]: |{pair[1]}")]
    found = chains.find(rows(*lines))

    assert messages(found) == [("ValueError", "of one"), ("TypeError", "of two")]
    assert [one.chain for one in found] == [1, 2]


def test_a_foreign_line_inside() -> None:
    """A line of another process between header and exception does not end the block."""
    found = chains.find(
        rows(
            "Traceback (most recent call last):",
            "srun: error: n2: task 0: Exited with exit code 1",
            "  x",
            "OSError: y",
        )
    )

    assert [(one.head, one.row) for one in found] == [(0, 3)]


def test_clean_up_noise_is_harmless() -> None:
    """Tracebacks of the interpreter's clean-up are marked."""
    found = chains.find(rows("Exception ignored in: <f>", *printed(raised(ValueError, "late"))))

    assert [one.harmless for one in found] == [True]


def test_an_exception_in_a_finaliser_is_harmless() -> None:
    """Python ignores it and says so in the line above, which a cut log may lack."""
    frames = ('  File "tk.py", line 4017, in __del__', "    self.tk.call()")
    called = ('  File "a.py", line 1, in <module>', "    f()", *frames)
    found = [chains.find(rows("Traceback (most recent call last):", *f, "RuntimeError: x")) for f in (frames, called)]

    assert [one.harmless for (one,) in found] == [True, False]


@pytest.mark.parametrize("width", range(40, 100))
def test_a_box_cuts_a_place_anywhere(width: int, tmp_path: Path) -> None:
    """Rich breaks a line within the path, before the number, within it, and before the function."""
    out, script = io.StringIO(), tmp_path / "train.py"
    script.write_text("\n" * 1233 + "def fit(): {}['late']\nfit()")
    try:
        runpy.run_path(str(script))
    except KeyError as error:
        Console(file=out, width=width).print(boxes.Traceback.from_exception(KeyError, error, error.__traceback__))

    (found,) = chains.find(rows(*out.getvalue().splitlines()))

    assert (found.exception, found.frame) == ("KeyError", f"{script}:1234 in fit")


CHAIN = "During handling of the above exception, another exception occurred:"


def test_a_chain_that_may_go_on_is_held() -> None:
    """From its first header: behind an exception that was just printed, and where another is announced."""
    chain = [HEADER + ":", FRAME.format(3, "f"), "KeyError: 1", "", CHAIN, ""]

    assert chains.unfinished(rows("a", *chain[:3])) == 1
    assert chains.unfinished(rows("a", *chain)) == 1
    assert chains.unfinished(rows("a", *chain, HEADER, FRAME.format(4, "g"))) == 1
    assert chains.unfinished(rows("a", *chain, HEADER, "OSError: 2", *"abcdefgh")) is None


def test_no_other_ranks_traceback_is_cut() -> None:
    """The rows that are held begin where no rank is within a traceback."""
    one = ["1|" + line for line in (HEADER, FRAME.format(3, "f"), "KeyError: 1", *"abcdefgh")]
    two = ["2|" + line for line in (HEADER, FRAME.format(3, "f"))]

    assert chains.unfinished(rows("x", one[0], two[0], *one[1:], two[1])) == 1
    assert chains.unfinished(rows("x", *one[:3], two[0], *one[3:], two[1])) == 4


@pytest.mark.parametrize(
    ("first", "instead", "another"),
    [
        ("{}['head']", "1 + 'head'", True),
        ("open('/no/such/cache')", "1 / 0", True),
        ("{}['head']", "exec('raise OSError(4)')", True),  # by the code that it calls
        ("1 / 0", "{}['head']", False),  # an error that nobody expects, then one of the clean-up
    ],
)
def test_the_handler_of_an_expected_exception_failed(first: str, instead: str, another: bool, tmp_path: Path) -> None:
    """What it did in place of the first ended the program, unless the first exception was a fault of its own."""
    lines = _chain(
        f"def find():\n    try:\n        {first}\n    except Exception:\n        {instead}\nfind()\n", tmp_path
    )

    assert [one.tried_again for one in chains.find(rows(*lines))] == [another, False]


def test_a_handler_that_passes_the_exception_on_took_no_other_way(tmp_path: Path) -> None:
    """`except KeyError: raise ConfigError(…)`: the first exception tells what is wrong."""
    lines = _chain(
        "def find():\n    try:\n        {}['head']\n    except KeyError:\n        raise OSError('no head')\nfind()\n",
        tmp_path,
    )

    assert [one.tried_again for one in chains.find(rows(*lines))] == [False, False]


def _chain(code: str, folder: Path) -> list[str]:
    """The lines that Python prints when a script with this code ends."""
    (folder / "run.py").write_text(code)
    with pytest.raises(Exception) as error:  # noqa: PT011 - of any kind
        runpy.run_path(str(folder / "run.py"))
    return printed(error.value)
