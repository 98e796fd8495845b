"""The page of diagnoses as a whole."""

import base64
import hashlib
import json

import pytest

from loganalyst.cli import main
from loganalyst.report.diagnosis import html
from tests.report.pages import FRAMES, STATES, TEXTS, VOID, golden, parsed


@pytest.mark.parametrize("state", STATES[:-1])
def test_the_structure_is_the_stored_one(state, request):
    """Headings, texts, tables and what pictures say, in order."""
    page = parsed(html.render(request.getfixturevalue(state)))

    assert page.faults == []
    assert page.open == []
    text = "\n".join(page.lines) + "\n"
    assert golden(f"{state}-html.txt", text) == text


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_loaded_and_only_our_script_runs(state, request):
    """No address outside of the page; no handler and no style in an attribute; the hashes are those of the text."""
    text = html.render(request.getfixturevalue(state))
    page = parsed(text)

    addresses = [
        v for _, attributes in page.tags for k, v in attributes.items() if k in ("src", "href", "action", "xlink:href")
    ]
    assert [a for a in addresses if not (a or "").startswith(("#run", "data:image/png;base64,"))] == []
    assert [k for _, attributes in page.tags for k in attributes if k == "style" or k.startswith("on")] == []
    assert [kind for kind, _ in page.scripts if kind != "application/json"] == [None]
    policy = next(
        attributes["content"]
        for _, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    script = next(body for kind, body in page.scripts if kind is None)
    style = text[text.index("<style>") + 7 : text.index("</style>")]
    digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in (style, script)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_hostile_text_makes_no_element_and_no_attribute(hostile):
    """The same elements as with harmless names, and the data is JSON that ends where it should."""
    page = parsed(html.render(hostile))

    assert page.faults == []
    assert {tag for tag, _ in page.tags} <= FRAMES | TEXTS | VOID | {
        "html", "head", "style", "body", "main", "script", "b", "span", "div", "small", "code", "output", "em", "g",
        "path", "rect", "circle", "line", "text", "image", "thead", "tbody", "tr", "mark",
    }  # fmt: skip
    blocks = [json.loads(body) for kind, body in page.scripts if kind]
    assert [line["name"][:13] for line in blocks[0]["p0"]["lines"]] == ["[bold red]x[/"]
    assert all("<" not in body for kind, body in page.scripts if kind)


def test_the_same_run_gives_the_same_bytes(failed):
    """No date, no chance."""
    assert html.render(failed) == failed.to_html() == html.render([failed])


def test_the_command_line_writes_a_page(tmp_path):
    """`--format html -o FILE`: of the readable runs; nothing is said on stdout."""
    run = tmp_path / "metrics.csv"
    run.write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(99)))
    page = tmp_path / "report.html"

    with pytest.raises(SystemExit, match=r"^0$"):
        main(["diagnose", str(run), "--format", "html", "-o", str(page)])
    assert parsed(page.read_text(encoding="utf-8")).lines[0].startswith("title: metrics.csv: ")


def test_several_runs_share_a_page(failed, healthy):
    """An article each, ids that differ, and a list of them."""
    page = parsed(html.render([failed, healthy]))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]

    assert len(ids) == len(set(ids))
    assert [attributes["id"] for tag, attributes in page.tags if tag == "article"] == ["run0", "run1"]
    links = [attributes["href"][1:] for tag, attributes in page.tags if tag == "a"]
    assert set(links) <= set(ids)
    assert links[:2] == ["run0", "run1"]
