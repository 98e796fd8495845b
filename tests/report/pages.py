"""HTML pages in tests: their outline, the stored outlines, and runs with layers."""

import os
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from loganalyst.model import Role
from tests.report.conftest import LOSS, curve

GOLDEN = Path(__file__).parent / "diagnosis/golden"
STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed", "hostile"]
VOID = {"meta", "br", "input"}
TEXTS = {"title", "h1", "h2", "h3", "h4", "p", "dt", "dd", "li", "th", "td", "figcaption", "a", "summary", "pre"}
FRAMES = {"article", "header", "nav", "section", "details", "figure", "dl", "ul", "ol", "table", "svg", "footer"}
LAYER = Role("layer_grad_norm", "gradient norm of one layer or module", "up", True)


class Outline(HTMLParser):
    """The content of a page, one line for each element: frames indented, texts in full, pictures by their labels."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.scripts: list[tuple[str | None, str]] = []
        self._at: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.tags.append((tag, named))
        if tag == "script":
            self.scripts.append((named.get("type"), ""))
        inside = "svg" in self.open
        if tag in FRAMES and not inside:
            label = " ".join(filter(None, [tag, named.get("class"), named.get("aria-label")]))
            self.lines.append("  " * sum(t in FRAMES for t in self.open) + label)
        elif tag in TEXTS and not inside:
            self._at = tag
            self.lines.append("  " * sum(t in FRAMES for t in self.open) + f"{tag}:")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] == "script":
            kind, before = self.scripts[-1]
            self.scripts[-1] = (kind, before + text)
        elif "svg" not in self.open and "style" not in self.open and text.strip() and TEXTS & set(self.open):
            self.lines[-1] += " " + " ".join(text.split())


def parsed(text: str) -> Outline:
    page = Outline()
    page.feed(text)
    page.close()
    return page


def golden(name: str, text: str) -> str:
    """The stored outline. UPDATE_GOLDEN=1 writes it again; look at it before you commit it."""
    if os.environ.get("UPDATE_GOLDEN"):
        (GOLDEN / name).write_text(text)
    return (GOLDEN / name).read_text()


def layered(n: int, *, broken: int | None = None):
    """A run with `n` layers of falling gradients, the last of them NaN from the middle on."""
    steps = np.arange(0, 400, 10)
    sizes = [np.full(40, 10.0**-i) for i in range(n)]
    if broken is not None:
        sizes[broken][20:] = np.nan
    curves = [curve("loss", LOSS, steps, np.linspace(2, 1, 40))]
    curves += [curve(f"grad_norm/layer{i}.weight", LAYER, steps, size) for i, size in enumerate(sizes)]
    return curves
