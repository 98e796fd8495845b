"""The page of a comparison: the sections of the terminal, its plots, what it may load, and that it fits a phone."""

import math
import re
from itertools import product
from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.comparing.comparisonresult import Comparison
from loganalyst.report import comparison as comparisonpage
from loganalyst.report.comparison import screen as comparison
from loganalyst.report.comparison.picture import pictures
from tests.comparing.conftest import write
from tests.report.pages import parsed

pytestmark = pytest.mark.usefixtures("workers_here")
NASTY = '<script>alert(1)</script> $x$ "\' style="fill: red"'


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A sweep of nine runs, one of which diverges, with a hostile name of a setting; three runs of another project."""
    folder = tmp_path_factory.mktemp("compared")
    for i, (lr, width) in enumerate(product((1e-4, 1e-3, 1e-2), (16, 32, 64))):
        level = 5 + (math.log10(lr) + 3) ** 2
        more = {"n_layer": 2, "block_size": 8, "corpus": "<b>books</b>", NASTY: 2**i % 7}
        write(folder / f"text/r{i}", level, i, diverges=i == 8, lr=lr, width=width, **more)
    for i in range(3):
        write(folder / f"images/r{i}", 0.1, i, arch="net", image_size=8, num_classes=10)
    return la.compare([folder], jobs=1)


@pytest.fixture(scope="module")
def page(found: Comparison) -> str:
    return comparisonpage.render(found)


def test_it_has_the_sections_of_the_terminal(found, page):
    """In that order, each with its table; what is left out stands first."""
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    screen = comparison.render(found, width=140)

    assert [t.partition(",")[0] for t in titles] == [
        "Runs that are unrelated to the others", "What makes the differences", "Best runs",
        "images: 3 runs", "images: What makes the differences", "images: Best runs", "images: Seeds",
    ]  # fmt: skip
    assert all(f"\n{title}\n" in screen for title in titles)
    assert "<h1>12 runs, 1 of them failed</h1>" in page
    assert "<p>Left out: 1 unstable, 3 unrelated</p>" in page
    assert "<td>images</td><td>0 of 3</td><td>not known</td><td>val_loss, train_loss</td><td>below</td>" in page


def test_it_loads_and_runs_nothing(page):
    """No script, no style of its own but ours, no reference out of the page, no name as markup."""
    told = parsed(page)
    used = {key for _, attributes in told.tags for key in attributes}

    assert told.faults == []
    assert told.scripts == []
    policy = next(attributes["content"] for _, attributes in told.tags if "http-equiv" in attributes)
    assert "script-src 'none'" in (policy or "")
    assert {key for key in used if key in ("style", "src") or key.startswith("on")} == set()
    links = [attributes["href"] or "" for _, attributes in told.tags if "href" in attributes]
    assert [link for link in links if not link.startswith(("#", "data:image/png;base64,"))] == []
    assert "b" not in {tag for tag, _ in told.tags}


def test_its_plots_say_what_they_show(found, page):
    """One of all settings, then one each of those that matter; colours follow the page's."""
    told = parsed(page)
    words = [attributes["aria-label"] for tag, attributes in told.tags if tag == "svg"]

    assert words[:2] == ["What matters (grey: not shown to)", "lr"]
    assert 'class="stroke-curve"' in page
    assert 'class="fill-ink"' in page
    assert comparisonpage.render(found) == page


def test_text_of_a_plot_stays_text():
    """Titles, names of settings and levels."""

    def draw(ax):
        ax.plot([0, 1], [0, 1], color="0.4")
        ax.set_title(NASTY.replace("$", r"\$"), loc="left")

    (picture,) = pictures([draw])
    told = parsed(picture)

    assert told.faults == []
    assert {tag for tag, _ in told.tags} <= {"figure", "svg", "defs", "g", "path", "text", "use", "clippath", "rect"}
    assert dict(told.tags[1][1])["aria-label"] == NASTY
    assert 'stroke-opacity="0.6" class="stroke-ink"' in picture or 'class="stroke-ink" stroke-opacity="0.6"' in picture


@pytest.mark.parametrize("width", [390, 1280])
def test_no_screen_is_too_narrow(browser, page, tmp_path: Path, width):
    """Tables scroll in their frames, the page never does sideways; nothing is asked for but pictures within it."""
    file = tmp_path / "compare.html"
    file.write_text(page, encoding="utf-8")
    browser.open(file, width=width)

    assert browser.say("document.documentElement.scrollWidth") == width
    assert [r for r in browser.requests if not r.startswith("data:image/png;base64,")] == [file.as_uri()]
    assert browser.complaints == []
    assert (
        browser.say("getComputedStyle(document.querySelector('.pictures .stroke-curve')).stroke") == "rgb(0, 114, 178)"
    )
