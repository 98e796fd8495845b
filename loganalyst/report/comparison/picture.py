"""Panels of a figure as SVG elements: with the page's font and colours, and nothing that its policy forbids."""

import re
from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from loganalyst.report.common.curvemarks import COLOURS
from loganalyst.report.common.figure import SETTINGS
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.comparison.plot import HEIGHT, WIDTH, Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colour of the figure -> class that gives it the page's colour. Greys become translucent ink, other colours stay
NAMES = {COLOURS[name].lower(): name for name in ("curve", "nonfinite", "level_down")}
GREY = re.compile(r"#(..)\1\1")  # `#595959`
KEPT = {
    "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "width", "height", "viewBox", "transform", "id",
    "href", "fill", "stroke", "clip-path", "fill-opacity", "stroke-opacity", "opacity", "stroke-width", "font-size",
    "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "font-weight", "text-anchor",
    "preserveAspectRatio",
}  # fmt: skip
DROPPED = ("metadata", "style")
PAGE_SETTINGS: Any = {"svg.fonttype": "none", "savefig.transparent": True, "svg.image_inline": True}


def pictures(panels: Iterable[Panel]) -> list[Html]:
    """One picture for each panel, labelled with the panel's title."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**SETTINGS, **PAGE_SETTINGS}):
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
    """An element reduced to what the page allows. Styles become attributes, known colours become classes."""
    name = _local(node.tag)
    if name in DROPPED:
        return Html()
    attributes = {_local(key): value for key, value in node.attrib.items()}
    attributes |= _styles(attributes.pop("style", ""))
    classes = [f"{way}-{colour}" for way in ("fill", "stroke") if (colour := _take_colour(attributes, way))]
    if name == "text" and not classes:
        classes = ["fill-ink"]
    kept = {key: value for key, value in attributes.items() if key in KEPT and _is_local(key, value)}
    return element(name, node.text or "", map(_html, node), **kept, class_=" ".join(classes) or None)


def _take_colour(attributes: dict[str, str], way: str) -> str | None:
    """Remove the fill or stroke colour from the attributes if a class stands for it, and return that class."""
    if grey := GREY.fullmatch(attributes.get(way, "")):
        alpha = float(attributes.get(f"{way}-opacity", 1)) * (1 - int(grey[1], 16) / 255)
        attributes[f"{way}-opacity"] = f"{alpha:.3g}"
    name = "ink" if grey else NAMES.get(attributes.get(way, ""))
    if name:
        del attributes[way]
    return name


def _is_local(key: str, value: str) -> bool:
    """Whether a reference stays within the page."""
    return key != "href" or value.startswith(("#", "data:image/png;base64,"))


def _styles(text: str) -> dict[str, str]:
    """`fill: #000; font: 8px 'DejaVu Sans'` as attributes."""
    styles = dict(re.findall(r"([\w-]+):\s*([^;]+)", text))
    size = re.search(r"([\d.]+)px", styles.pop("font", ""))
    return {**styles, **({"font-size": size[1]} if size else {})}


def _local(name: str) -> str:
    return name.rpartition("}")[2]
