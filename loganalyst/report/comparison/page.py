"""The page of a comparison: an overview, then a section for each question, with its table, plots and sentences."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from loganalyst.report.common.html import blocks
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.common.html.shell import STYLE, shell
from loganalyst.report.common.runpaths import common_root
from loganalyst.report.common.wording import clean
from loganalyst.report.comparison.part import Part
from loganalyst.report.comparison.picture import pictures
from loganalyst.report.comparison.sections import headline, parts

if TYPE_CHECKING:
    from loganalyst.comparing.comparisonresult import Comparison

TONES = {"✗": "bad", "✓": "good"}  # of a row, by the sign it begins with


def render(found: "Comparison", *, top: int = 5) -> str:
    """The text of the file, with the `top` best runs."""
    sections = parts(found, top)
    links = [element("a", clean(part.title.split(",")[0], 60), href=f"#p{i}") for i, part in enumerate(sections)]
    article = element(
        "article",
        _verdict(found),
        element("nav", links, class_="parts", aria_label="Parts of the comparison"),
        [_section(part, i) for i, part in enumerate(sections)],
        class_="tone-bad" if found.worse else "tone-plain",
    )
    style = (STYLE, ("comparison", "comparison.css"))
    return shell(headline(found)[0], element("main", article), made="the runs' logs", style=style)


def _verdict(found: "Comparison") -> Html:
    """How many runs there are, the objective, and how many are left out."""
    first, *rest = headline(found)
    root = common_root(found.runs["path"].to_list())
    worse = element("p", "A metric of the second set is worse beyond noise.", class_="state") if found.worse else None
    return element(
        "header",
        element("p", f"Comparison of {clean(root)}" if root else "Comparison", class_="eyebrow"),
        element("h1", first),
        worse,
        _sentences(rest),
        class_="verdict",
    )


def _section(part: Part, i: int) -> Html:
    """The section of one question."""
    return element(
        "section",
        element("h2", part.title, id=f"h{i}"),
        blocks.present(_table(part), element("div", pictures(part.panels), class_="pictures") if part.panels else None),
        _sentences(part.notes),
        id=f"p{i}",
        aria_labelledby=f"h{i}",
    )


def _table(part: Part) -> Html | None:
    """The table without its empty columns."""
    rows = [[row[i] for i in part.filled] for row in part.rows]
    return blocks.table([part.head[i] for i in part.filled], rows, [TONES.get(row[0][:1], "") for row in part.rows])


def _sentences(notes: Iterable[str]) -> Html:
    return element("div", [element("p", note) for note in notes], class_="notes")
