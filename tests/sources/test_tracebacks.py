import traceback

import polars as pl

from loganalyst.sources.log import tracebacks


def rows(*lines: str) -> pl.DataFrame:
    """Lines as `prefix|body`, or without a prefix."""
    parts = [line.partition("|") if "|" in line else ("", "", line) for line in lines]
    return pl.DataFrame({"prefix": [p for p, _, _ in parts], "body": [b for _, _, b in parts]})


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
    found = tracebacks.find(rows(*lines)).to_dicts()

    assert len(found) == 1
    assert (1, len(lines) - 2) == (found[0]["head"], found[0]["row"])
    assert (found[0]["exception"], found[0]["message"]) == ("ValueError", "bad shard")
    assert found[0]["frame"].endswith(" in raised")
    assert __file__ in found[0]["frame"]
    assert found[0]["harmless"] is False


def test_a_chain_is_one_chain() -> None:
    """The exceptions of a chain, in the order printed, share its number; the next traceback has another."""
    chain = printed(raised(RuntimeError, "second", KeyError("first")))
    found = tracebacks.find(rows(*chain, *printed(raised(OSError, "third"))))

    assert found["exception"].to_list() == ["KeyError", "RuntimeError", "OSError"]
    first, second, third = found["chain"].to_list()
    assert first == second != third


def test_ranks_are_taken_apart() -> None:
    """Two ranks that print line by line in turn give two whole tracebacks."""
    one, two = printed(raised(ValueError, "of one")), printed(raised(TypeError, "of two"))
    lines = [line for pair in zip(one, two, strict=True) for line in (f"[rank1]: |{pair[0]}", f"[rank2]: |{pair[1]}")]
    found = tracebacks.find(rows(*lines)).sort("head")

    assert found.select("exception", "message").rows() == [("ValueError", "of one"), ("TypeError", "of two")]
    assert found["chain"].n_unique() == 2


def test_library_frames_are_not_the_users() -> None:
    """Frames in site-packages are passed over for the innermost frame of the user's code."""
    found = tracebacks.find(
        rows(
            "Traceback (most recent call last):",
            '  File "/home/me/train.py", line 12, in step',
            "    loss.backward()",
            '  File "/opt/env/lib/python3.11/site-packages/torch/_tensor.py", line 5, in backward',
            "    engine()",
            "RuntimeError: no",
        )
    )

    assert found["frame"].to_list() == ["/home/me/train.py:12 in step"]


def test_an_exception_of_any_name_right_below_the_frames() -> None:
    """A class without the usual ending counts where it follows the frames."""
    found = tracebacks.find(rows("Traceback (most recent call last):", '  File "a.py", line 1, in f', "my.Boom: x"))

    assert found.select("exception", "message").rows() == [("my.Boom", "x")]


def test_a_foreign_line_inside() -> None:
    """A line another process wrote between header and exception does not end the block."""
    found = tracebacks.find(
        rows(
            "Traceback (most recent call last):",
            "srun: error: n2: task 0: Exited with exit code 1",
            "  x",
            "OSError: y",
        )
    )

    assert found.select("head", "row").rows() == [(0, 3)]


def test_cut_off() -> None:
    """A traceback without its last line has no exception, and its header is still open."""
    cut = rows("a", "Traceback (most recent call last):", '  File "a.py", line 1, in f')

    assert tracebacks.find(cut)["row"].to_list() == [None]
    assert tracebacks.unfinished(cut) == 1
    assert tracebacks.unfinished(rows("a", "b", "c")) == 3


def test_clean_up_noise_is_harmless() -> None:
    """What the interpreter prints while it shuts down is marked."""
    found = tracebacks.find(rows("Exception ignored in: <f>", *printed(raised(ValueError, "late"))))

    assert found["harmless"].to_list() == [True]


def test_rich_traceback() -> None:
    """The boxed form is read too: frames inside, exception below."""
    found = tracebacks.find(
        rows(
            "╭───── Traceback (most recent call last) ─────╮",
            "│ /home/me/train.py:7 in main                 │",
            "│                                             │",
            "╰─────────────────────────────────────────────╯",
            "ValueError: boxed",
        )
    )

    assert found.select("exception", "frame").rows() == [("ValueError", "/home/me/train.py:7 in main")]
