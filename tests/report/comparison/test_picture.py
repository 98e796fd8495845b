"""Panels of a figure as SVG elements."""

from loganalyst.report.common.curvemarks import COLOURS
from loganalyst.report.comparison.picture import pictures


def test_known_colours_become_classes():
    """Greys become translucent ink, other colours stay; there is no style."""

    def draw(ax):
        ax.plot([0, 1], [0, 1], color=COLOURS["curve"])
        ax.plot([0, 1], [1, 0], color="#123456")
        ax.set_title("t", loc="left")

    (picture,) = pictures([draw])

    assert 'class="stroke-curve"' in picture
    assert 'stroke="#123456"' in picture
    assert 'class="fill-ink"' in picture
    assert ("style=" in picture, "<metadata" in picture, 'aria-label="t"' in picture) == (False, False, True)
