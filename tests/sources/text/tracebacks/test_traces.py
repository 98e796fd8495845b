"""One traceback: its lines, exception and frame."""

import pytest

from loganalyst.sources.text.tracebacks import chains, traces
from tests.sources.text.tracebacks.traceback_cases import messages, printed, raised, rows


def test_one_traceback() -> None:
    """Header, exception, message and the innermost own frame are found."""
    lines = ["starting", *printed(raised(ValueError, "bad shard")), "after"]
    (found,) = chains.find(rows(*lines))

    assert (found.head, found.row) == (1, len(lines) - 2)
    assert (found.exception, found.message) == ("ValueError", "bad shard")
    assert found.frame is not None
    assert found.frame.startswith(raised.__code__.co_filename)
    assert found.frame.endswith(" in raised")
    assert found.harmless is False


def test_library_frames_are_not_the_users() -> None:
    """Frames in site-packages are skipped for the innermost frame of the user's code."""
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


def test_an_exception_of_any_name_right_below_the_frames() -> None:
    """A class without the usual suffix counts right below the frames."""
    found = chains.find(rows("Traceback (most recent call last):", '  File "a.py", line 1, in f', "my.Boom: x"))

    assert messages(found) == [("my.Boom", "x")]


MAIN = '  File "/home/me/train.py", line 40, in <module>'
STEP = '  File "/home/me/train.py", line 12, in step'
IMPORT = '  File "/opt/env/lib/python3.11/site-packages/fast/__init__.py", line 4, in <module>'
LIBRARY = '  File "/opt/env/lib/python3.11/multiprocessing/process.py", line 314, in _bootstrap'


@pytest.mark.parametrize(
    ("before", "frame", "printer"),
    [
        ("step 3 loss 0.2", MAIN, "interpreter"),
        ("step 3 loss 0.2", STEP, "handler"),
        ("step 3 loss 0.2", LIBRARY, None),
        ("2026-01-10 10:01:00,000 ERROR worker: failed to parse", MAIN, "logger"),
        ("[2026-01-10 10:01:00,000][env][WARNING] - step skipped", STEP, "warning"),
        ("[2026-01-10 10:01:00,000][env][WARNING] - step skipped", MAIN, "logger"),
        ("/env/a.py:31: RuntimeWarning: the slow path is used:", STEP, "warning"),
        ("[W 2026-01-10 10:01:00,000] Trial 4 failed with parameters: {'lr': 0.9}", STEP, "warning"),
        ("WARNING:root:no fused kernel", IMPORT, "library"),
        ("step 3 loss 0.2", IMPORT, "library"),
        ("ERROR:root:failed to parse", STEP, "logger"),
        ("2026-01-10 10:01:00,000 INFO worker: no ERRORS so far", MAIN, "interpreter"),
        ("Error executing job with overrides: []", STEP, "handler"),
    ],
)
def test_the_form_shows_what_printed_it(before: str, frame: str, printer: str | None) -> None:
    (found,) = chains.find(rows(before, "Traceback (most recent call last):", frame, "    f()", "ValueError: bad"))

    assert found.printer == printer


def test_a_chain_has_one_printer() -> None:
    """The exception that was caught first is printed from the function that caught it."""
    link = "During handling of the above exception, another exception occurred:"
    first, second = (("Traceback (most recent call last):", frame, "    f()", "KeyError: 1") for frame in (STEP, MAIN))
    found = chains.find(rows(*first, "", link, "", *second))

    assert [one.printer for one in found] == ["interpreter", "interpreter"]


@pytest.mark.parametrize(
    ("before", "ignored"),
    [("Exception ignored in: <function A.__del__ at 0x7f>", True), ("Exception in thread Thread-1:", False)],
)
def test_the_interpreter_says_what_it_ignores(before: str, ignored: bool) -> None:
    (found,) = chains.find(rows(before, "Traceback (most recent call last):", STEP, "    f()", "ValueError: bad"))

    assert (found.harmless, found.ignored) == (True, ignored)


def test_cut_off() -> None:
    """A traceback without its last line has no exception, and its header is still open."""
    cut = rows("a", "Traceback (most recent call last):", '  File "a.py", line 1, in f')

    assert [one.row for one in chains.find(cut)] == [None]
    assert chains.unfinished(cut) == 1
    assert chains.unfinished(rows("a", "b", "c")) is None


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


def test_the_parts_of_a_traceback() -> None:
    """Exceptions in a row are its endings; a line of another kind behind them is a stray."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/a.py", line 3, in f',
        "    f()",
        "AError: x",
        "BError",
        "bye",
    ]
    (printer,) = rows(*lines)
    (one,) = traces.printed(printer)

    assert [ending.name for ending in one.endings()] == ["AError", "BError"]
    assert (one.strays(), one.extras(), one.orderly()) == (True, False, True)
    assert one.frames() == ["/a.py:3 in f"]
    assert (one.found.row, one.found.deep, one.found.exception, one.found.message) == (3, 1, "AError", "x")


@pytest.mark.parametrize(("frame", "outer"), [(MAIN, "/home/me/train.py:40"), (STEP, None), (LIBRARY, None)])
def test_the_outermost_frame_of_what_the_interpreter_printed(frame: str, outer: str | None) -> None:
    (found,) = chains.find(rows("Traceback (most recent call last):", frame, "    f()", "ValueError: bad"))
    assert found.outer == outer
