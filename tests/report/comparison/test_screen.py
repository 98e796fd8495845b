"""A comparison on a terminal, as Markdown and as JSON."""

import json

from loganalyst.report.comparison import screen
from loganalyst.report.comparison.schema import schema
from tests.report.schemas import accepts


def test_lines_fit_the_screen(small):
    """Long lines of a table are cut."""
    text = screen.render(small, width=50)

    assert text.splitlines()[0] == "3 runs, 1 of them failed"
    assert max(map(len, text.splitlines())) <= 50


def test_markdown_escapes_names_and_cells(small):
    """A bar in a setting's name adds no column."""
    text = screen.render_markdown(small)

    assert text.startswith("# 3 runs, 1 of them failed\n\n2 compared by val")
    assert "|  | val | lr | a\\|b | run |\n| --- | --- | --- | --- | --- |\n| 1 | 3 | 0.001 | 1 | a |" in text


def test_the_json_fits_its_schema(small):
    """Settings have an object of their own."""
    data = json.loads(json.dumps(screen.data(small), allow_nan=False))

    assert accepts(schema(), data)
    assert data["runs"][0]["config"] == {"lr": "0.001", "a|b": "1"}
