"""Panels of the figure as SVG of the page: its font and colours, light or dark, and nothing that the policy forbids."""

import re
from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from loganalyst.report.common.html.element import Html, element
from loganalyst.report.comparison.plot import HEIGHT, WIDTH, Panel
from loganalyst.report.diagnosis.panels import COLOURS
from loganalyst.report.diagnosis.plot import SETTINGS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# colours of the figure -> class that gives it the page's; greys are its ink, thinner; others stay as they are
NAMES = {COLOURS[name].lower(): name for name in ("curve", "nonfinite", "level_down")}
GREY = re.compile(r"#(..)\1\1")
KEPT = {
    "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "width", "height", "viewBox", "transform", "id",
    "href", "fill", "stroke", "clip-path", "fill-opacity", "stroke-opacity", "opacity", "stroke-width", "font-size",
    "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "font-weight", "text-anchor",
    "preserveAspectRatio",
}  # fmt: skip
DROPPED = ("metadata", "style")
MINE: Any = {"svg.fonttype": "none", "savefig.transparent": True, "svg.image_inline": True}


def pictures(panels: Iterable[Panel]) -> list[Html]:
    """One picture a panel, with its title as what it says of itself."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**SETTINGS, **MINE}):
        return [_picture(Figure(figsize=(WIDTH, HEIGHT), layout="constrained"), draw) for draw in panels]


def _picture(figure: "Figure", draw: Panel) -> Html:
    ax = figure.subplots()
    draw(ax)
    words = ax.get_title(loc="left").replace(r"\$", "$")
    written = StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    root = ET.fromstring(written.getvalue())
    return element(
        "figure", element("svg", map(_html, root), viewBox=root.attrib["viewBox"], role="img", aria_label=words)
    )


def _html(node: ET.Element) -> Html:
    """An element with what the page allows of it; styles become attributes, known colours classes."""
    name = _local(node.tag)
    if name in DROPPED:
        return Html()
    told = {_local(key): value for key, value in node.attrib.items()}
    told |= _styles(told.pop("style", ""))
    classes = [f"{way}-{colour}" for way in ("fill", "stroke") if (colour := _named(told, way))]
    if name == "text" and not classes:
        classes = ["fill-ink"]
    kept = {key: value for key, value in told.items() if key in KEPT and _own(key, value)}
    return element(name, node.text or "", map(_html, node), **kept, class_=" ".join(classes) or None)


def _named(told: dict[str, str], way: str) -> str | None:
    """The class of a colour among the attributes, which it is taken from."""
    if grey := GREY.fullmatch(told.get(way, "")):
        alpha = float(told.get(f"{way}-opacity", 1)) * (1 - int(grey[1], 16) / 255)
        told[f"{way}-opacity"] = f"{alpha:.3g}"
    name = "ink" if grey else NAMES.get(told.get(way, ""))
    if name:
        del told[way]
    return name


def _own(key: str, value: str) -> bool:
    """Whether a reference stays within the page."""
    return key != "href" or value.startswith(("#", "data:image/png;base64,"))


def _styles(text: str) -> dict[str, str]:
    """`fill: #000; font: 8px 'DejaVu Sans'` as attributes."""
    told = dict(re.findall(r"([\w-]+):\s*([^;]+)", text))
    size = re.search(r"([\d.]+)px", told.pop("font", ""))
    return {**told, **({"font-size": size[1]} if size else {})}


def _local(name: str) -> str:
    return name.rpartition("}")[2]
