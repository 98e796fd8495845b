"""Where tracebacks begin."""

from loganalyst.sources.text.tracebacks.headers import HEADER, handlings, heads, links, open_group, remote

LINES = [
    "step 3",
    f"{HEADER}:",
    "KeyError: 'x'",
    "During handling of the above exception, another exception occurred:",
    "ray::train() (pid=7, ip=10.1.0.9)",
    "ValueError: y",
]


def test_where_tracebacks_begin_and_follow_from_another() -> None:
    """At a header, or at Ray's header of a task, which names the node."""
    found = remote(LINES[4])

    assert (heads(LINES), links(LINES), handlings(LINES)) == ([1, 4], [3], [3])
    assert found is not None
    assert found[1] == "10.1.0.9"
    assert remote("f() (pid=7)") is None


def test_an_exception_group_is_open_until_its_last_line() -> None:
    """Its members may go on behind the last line that was read."""
    group = [f"  + Exception Group {HEADER}:", "  | ExceptionGroup: two (2 sub-exceptions)"]

    assert open_group(["x", *group]) == 1
    assert open_group([*group, f"    +{'-' * 36}"]) is None
