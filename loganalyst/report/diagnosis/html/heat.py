"""Gradients by layer as a heat map over the steps of the run, as a PNG inside the page: one pixel per layer and bin."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isinf
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Diagnosis
from loganalyst.report.common.html.element import Html, element
from loganalyst.report.common.scale import MIN_CURVE_POINTS
from loganalyst.report.common.wording import clean, number
from loganalyst.report.diagnosis.html.axis import Axis, Floats
from loganalyst.report.diagnosis.html.png import BROKEN, EMPTY, SHADES, png

ROLE = "layer_grad_norm"
BINS = 160  # of the step axis
MAX_LAYERS = 96  # of more layers each n-th is drawn
MAX_HEIGHT, MAX_ROW_HEIGHT, MIN_HEIGHT = 220, 14, 60  # pixels of the map, of one row, of the map
LABEL_HEIGHT = 11  # pixels that a layer's name needs
MAX_NAME = 11  # characters of a layer's name


@dataclass(frozen=True)
class Heat:
    """`values` (layers, bins) are gradient norms: NaN where none was logged, Inf where the norm was not finite."""

    layers: tuple[str, ...]
    names: tuple[str, ...]
    values: Floats
    x: Axis
    left_out: int

    @property
    def height(self) -> int:
        """Pixels."""
        return int(min(max(MAX_ROW_HEIGHT * len(self.layers), MIN_HEIGHT), max(MAX_HEIGHT, 2 * len(self.layers))))

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest value above 0; 1 and 1 if there is none."""
        positive = self.values[np.isfinite(self.values) & (self.values > 0)]
        return (float(positive.min()), float(positive.max())) if positive.size else (1.0, 1.0)


def heat(d: Diagnosis, x: Axis) -> Heat | None:
    """The map over the step axis `x`, from logged norms, or from histograms if no norms were logged.

    None for fewer than two layers.
    """
    rows: Mapping[str, tuple[NDArray[np.int64], Floats]] = {
        c.metric: (c.steps, c.values) for c in d.curves if c.role.name == ROLE and len(c.values) >= MIN_CURVE_POINTS
    }
    rows = rows if len(rows) > 1 else _sizes(d.run.distributions)
    rows = {m: rows[m] for m in sorted(rows, key=_natural)}
    if len(rows) < 2:
        return None
    each = -(-len(rows) // MAX_LAYERS)
    shown = dict(list(rows.items())[::each])
    values = np.stack([_binned(*row, x) for row in shown.values()])
    names = tuple(clean(m, 120) for m in shown)
    return Heat(names, _short(names), values, x, len(rows) - len(shown))


def _sizes(histograms: pl.DataFrame) -> Mapping[str, tuple[NDArray[np.int64], Floats]]:
    """Root mean squares of gradients that were logged as histograms."""
    gradients = histograms.filter(pl.col("metric").str.contains("(?i)grad"), pl.col("step").is_not_null())
    size = (pl.col("mean").pow(2) + pl.col("std").fill_null(0.0).pow(2)).sqrt()
    sizes = gradients.select("metric", "step", size=size).drop_nulls().sort("step").partition_by("metric", as_dict=True)
    return {str(m): (rows["step"].to_numpy(), rows["size"].to_numpy()) for (m,), rows in sizes.items()}


def _natural(name: str) -> list[tuple[int, str]]:
    """A sort key that puts layer 2 before layer 10."""
    return [(int(part[:18]) if part.isdecimal() else -1, part) for part in re.split(r"([0-9]+)", name)]


def _short(names: Sequence[str]) -> tuple[str, ...]:
    """Names without their common beginning (up to a separator), cut at the front."""
    same = next((i for i, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1), 0)
    begin = max(names[0][:same].rfind(sign) for sign in "/._ ") + 1
    return tuple(n[begin:] if len(n) - begin <= MAX_NAME else "…" + n[1 - MAX_NAME :] for n in names)


def _binned(steps: NDArray[np.int64], values: Floats, x: Axis) -> Floats:
    """The last value of each bin, held until the next value. Inf where a value in the bin is not finite."""
    at = np.clip((x.at(steps.astype(float)) * BINS).astype(int), 0, BINS - 1)
    bins = np.full(BINS, np.nan)
    bins[at] = np.abs(values)
    bins[at[~np.isfinite(values)]] = np.inf
    known = np.flatnonzero(~np.isnan(bins))
    apart = int(np.median(np.diff(known))) if known.size > 1 else 1
    last = np.maximum.accumulate(np.where(np.isnan(bins), -1, np.arange(BINS)))
    held = (last >= 0) & (np.arange(BINS) - last < 2 * apart)
    return np.where(held, bins[last], np.nan)


def shades(h: Heat) -> NDArray[np.uint8]:
    """Colour numbers on a logarithmic scale from the smallest to the largest value."""
    low, high = h.ends
    with np.errstate(all="ignore"):
        share = np.log(np.maximum(h.values, low) / low) / max(np.log(high / low), 1e-9)
    number_ = np.nan_to_num(share, nan=0.0, posinf=0.0) * (SHADES - 1)
    shade = np.where(np.isnan(h.values), EMPTY, np.where(np.isinf(h.values), BROKEN, np.clip(number_, 0, SHADES - 1)))
    return shade.astype(np.uint8)


def svg(h: Heat, grid: Html, onset: Html | None, words: str) -> Html:
    """The picture with its tick lines `grid`. The script moves the image when it is zoomed."""
    image = element(
        "image", href=png(shades(h)), width="100%", height=h.height, preserveAspectRatio="none", class_="heat"
    )
    return element(
        "svg",
        element("g", grid, class_="ticks"),
        element("svg", image, class_="lines", width="100%", height=h.height),
        element("g", [_names(h)], class_="rows"),
        element("g", onset, class_="marks"),
        height=h.height,
        class_="plot",
        role="img",
        aria_label=words,
    )


def _names(h: Heat) -> list[Html]:
    row = h.height / len(h.layers)
    each = max(int(np.ceil(LABEL_HEIGHT / row)), 1)
    return [
        element("text", name, x="-8", y=round((i + 0.5) * row + 3.5, 1), class_="y")
        for i, name in enumerate(h.names)
        if i % each == 0
    ]


def legend(h: Heat) -> Html:
    """The colours with their values."""
    strip = np.arange(SHADES, dtype=np.uint8)[None, :]
    low, high = h.ends
    bar = element("image", href=png(strip), width="120", height="10", preserveAspectRatio="none")
    picture = element("svg", bar, width="120", height="10", aria_hidden="true")
    broken = np.isinf(h.values).any()
    nan = [element("span", class_="key m-nonfinite block"), "NaN or infinite"] if broken else []
    return element("p", number(low), " ", picture, " ", number(high), *nan, class_="scale")


def words(h: Heat) -> str:
    """A description of the map."""
    last = np.array([row[np.flatnonzero(~np.isnan(row))[-1]] if (~np.isnan(row)).any() else np.nan for row in h.values])
    finite = np.flatnonzero(np.isfinite(last))
    broken = int(np.isinf(h.values).any(axis=1).sum())
    text = f"Gradient of {len(h.layers)} layers over the steps."
    if finite.size:
        low, high = finite[np.argmin(last[finite])], finite[np.argmax(last[finite])]
        ends = [f"{number(float(last[i]))} ({h.layers[i]})" for i in (low, high)]
        text += f" At the end the smallest is {ends[0]}, the largest {ends[1]}."
    if broken:
        text += f" {broken} became NaN or infinite."
    return text + (f" {h.left_out} more layers are not drawn." if h.left_out else "")


def packed(h: Heat) -> dict[str, Any]:
    """The script's data: the value of each layer and bin with three digits, None where it is empty."""
    values = [[_read_out(v) for v in row] for row in h.values.tolist()]
    return {"x": [h.x.low, h.x.high], "layers": h.layers, "values": values}


def _read_out(value: float) -> float | str | None:
    if isfinite(value):
        return float(f"{value:.3g}")
    return "NaN or infinite" if isinf(value) else None
