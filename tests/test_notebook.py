"""The notebook of the docs is what its cells give today, and can be opened by anybody."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from docs import generate_notebook

ROOT = Path(__file__).parents[1]
STORED = json.loads(generate_notebook.NOTEBOOK.read_text(encoding="utf-8"))
RUN_ID = re.compile(r"id='[0-9a-f]{12}'")  # it is made of the run's real path
VERSION = re.compile(r'"loganalyst": "[^"]*"')  # of whatever is installed


@pytest.fixture(scope="module")
def fresh() -> dict[str, Any]:
    """The cells, run one after another in this process."""
    return generate_notebook.notebook()


def texts(notebook: dict[str, Any]) -> list[Any]:
    """Cells with their outputs, but for pictures, which differ with matplotlib, and HTML that others make."""
    found = []
    for cell in notebook["cells"]:
        outputs = [o.get("text") or o["data"]["text/plain"] for o in cell.get("outputs", ())]
        found.append(
            (
                cell["cell_type"],
                cell["source"],
                [VERSION.sub("", RUN_ID.sub("", "".join(text))) for text in outputs],
            )
        )
    return found


def test_the_outputs_are_those_of_today(fresh: dict[str, Any]) -> None:
    """`python docs/generate_notebook.py` writes it anew after a change."""
    assert texts(fresh) == texts(STORED)


def test_our_own_html_is_that_of_today(fresh: dict[str, Any]) -> None:
    """What a diagnosis and a run show of themselves."""

    def ours(notebook: dict[str, Any]) -> list[str]:
        data = [o["data"] for cell in notebook["cells"] for o in cell.get("outputs", ()) if "data" in o]
        pieces = ["".join(d.get("text/html", ())) for d in data]
        return [piece for piece in pieces if piece.startswith('<div style="font-family')]

    assert len(ours(STORED)) == 2
    assert ours(fresh) == ours(STORED)


def test_a_figure_is_stored_as_a_picture() -> None:
    """One PNG, small enough for a page."""
    pictures = [
        o["data"]["image/png"]
        for c in STORED["cells"]
        for o in c.get("outputs", ())
        if "image/png" in o.get("data", {})
    ]

    assert len(pictures) == 1
    assert pictures[0].startswith("iVBORw0KGgo")
    assert len(pictures[0]) < 300_000


def test_no_path_of_a_machine_is_in_it() -> None:
    """Neither of the checkout, nor of a temporary folder, nor of a home."""
    text = generate_notebook.NOTEBOOK.read_text(encoding="utf-8")

    assert re.findall(r"(?<![\w.])/(?:home|root|tmp|work|usr|var|Users)/\S*", text) == []
    assert str(ROOT) not in text


def test_it_is_a_notebook() -> None:
    """The fields that version 4.5 of the format asks for."""
    assert (STORED["nbformat"], STORED["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in STORED["cells"]}) == len(STORED["cells"])
    for cell in STORED["cells"]:
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | code
    counts = [cell["execution_count"] for cell in STORED["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
