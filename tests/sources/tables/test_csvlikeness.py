"""How sure a table of metrics is, by its name, its header and its rows."""

from pathlib import Path

import pytest

from loganalyst.sources.tables.csvlikeness import likeness


@pytest.mark.parametrize(
    ("name", "header", "body", "sure"),
    [
        ("metrics.csv", ["step", "loss"], [["1", "0.5"]], 1.0),  # a writer's own name
        ("history.csv", ["epoch", "loss"], [["1", "0.5"]], 0.9),
        ("history.csv", ["loss", "note"], [["0.5", "0.6"]], 0.5),
        ("history.csv", ["file", "label"], [["a.png", "cat"]], 0.2),
        ("history.csv", ["Losses"], [["step", "loss"], ["1", "0.5"]], 0.0),  # a title above the names
        ("losses.txt", ["0.9"], [["0.8"], ["0.7"]], 0.6),
        ("notes.txt", ["a", "b"], [["1", "x"], ["2", "y"]], 0.0),
    ],
)
def test_likeness(name: str, header: list[str], body: list[list[str]], sure: float) -> None:
    assert likeness(Path(name), header, body, ends_blank=False) == sure


def test_a_separator_at_the_end_of_each_line_is_that_of_a_logger() -> None:
    """Torch7's logger names no counter."""
    rows = [["0.5", "0.7"], ["0.4", "0.6"], ["0.3", "0.5"]]

    assert [likeness(Path("fit.log"), ["a", "b"], rows, ends_blank=blank) for blank in (False, True)] == [0.0, 0.6]
