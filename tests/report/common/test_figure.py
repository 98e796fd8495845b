"""Figures: formats, targets, text and tick labels."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from loganalyst import guard
from loganalyst.errors import LogAnalystError
from loganalyst.report.common import figure


def test_an_unknown_format_is_refused():
    """The message names the formats that are allowed."""
    with pytest.raises(LogAnalystError, match=r"unknown picture format '.gif'; allowed are .png, .svg, .pdf"):
        figure.check_target(Path("a.gif"), [])


def test_a_target_inside_what_was_read_is_refused(tmp_path):
    """Upper-case suffixes are known too, and do not hide the place."""
    (tmp_path / "run").mkdir()
    read = [guard.Read(str(tmp_path / "run"))]
    with pytest.raises(LogAnalystError, match="lies inside"):
        figure.check_target(tmp_path / "run" / "a.PNG", read)

    figure.check_target(tmp_path / "a.PNG", read)


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_the_suffix_decides_the_format(tmp_path, suffix, magic):
    """Each file begins with the signature of its format."""
    figure.write(tmp_path / f"a.{suffix}", lambda f: f.text(0, 0, "x"))

    assert (tmp_path / f"a.{suffix}").read_bytes().startswith(magic)


def test_a_notebook_gets_a_png():
    """The figure shows itself without pyplot."""
    drawn = figure.for_notebook(lambda f: f.set_size_inches(1, 1))

    assert drawn._repr_png_().startswith(b"\x89PNG")


def test_a_dollar_opens_no_formula():
    """The text is one clean line with escaped dollars."""
    assert figure.literal("loss$\n\x1b[31mx", 40) == r"loss\$ x"


def test_the_legend_has_at_most_so_many_columns():
    """Without handles there is no legend."""
    drawn = Figure()
    figure.legend_below(drawn, [], 2)
    figure.legend_below(drawn, [Line2D([], [], label=name) for name in "abc"], 2)

    assert [legend._ncols for legend in drawn.legends] == [2]


def test_tick_labels_are_short():
    """Steps have a letter for thousands and millions, numbers a fixed count of digits."""
    steps, numbers = figure.step_format(), figure.number_format(3)

    assert [steps(v) for v in (0, 500, 2500, 1_250_000, 3e9)] == ["0", "500", "2.5k", "1.25M", "3G"]
    assert [numbers(v) for v in (0.0012345, 12345.0)] == ["0.00123", "1.23e+04"]
