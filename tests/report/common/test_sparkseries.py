import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.model import Curve, Role
from loganalyst.report.common.sparkseries import EMPTY, LEVELS, NONFINITE, chart

UP = Role("train_loss", "", "up", True)
DOWN = Role("reward", "", "down", True)
PLAIN = Role("other", "", None, False)


def curve(steps, values, role=UP, metric="m"):
    n = len(values)
    nan = np.full(n, np.nan)
    zeros = np.zeros(n, np.int32)
    return Curve(metric, role, np.asarray(steps, np.int64), np.asarray(values, float), nan, nan, zeros, np.full(n, -1))


def one(steps, values, role=UP, onset=None, cells=48):
    return chart([curve(steps, values, role)], onset, cells)[0]


def test_levels_span_the_values():
    """The lowest value has level 0, the highest level 7."""
    assert one(range(4), [1.0, 2.0, 3.0, 4.0]).cells == (0, 2, 5, 7)


def test_a_constant_curve_is_drawn_halfway():
    """A curve without height has one level."""
    assert {3} == set(one(range(10), [5.0] * 10).cells)


def test_nonfinite_is_its_own_sign():
    """A cell with a NaN or an infinity in it says so, whatever else is there."""
    assert one(range(4), [1.0, np.nan, -np.inf, 2.0]).cells == (0, NONFINITE, NONFINITE, 7)
    assert NONFINITE in one(range(1000), [1.0] * 500 + [np.inf] + [1.0] * 499, cells=10).cells


def test_all_nonfinite():
    """A curve of NaN alone is drawn and its value said."""
    series = one(range(3), [np.nan] * 3)

    assert series.cells == (NONFINITE,) * 3
    assert series.values == "NaN"


@pytest.mark.parametrize(("role", "cell"), [(UP, 7), (DOWN, 0)])
def test_a_cell_shows_the_worst_of_its_points(role, cell):
    """One bad point among a hundred is seen, in the direction of harm of the role."""
    values = np.ones(1000)
    values[550] = 9.0 if role is UP else -9.0

    cells = one(range(1000), values, role, cells=10).cells

    assert cell == cells[5]
    assert all(c != cell for i, c in enumerate(cells) if i != 5)


def test_wide_positive_curves_are_logarithmic():
    """Decades are equally high."""
    assert one(range(4), [1.0, 10.0, 100.0, 1000.0]).cells == (0, 2, 5, 7)


def test_sparse_curve_holds_its_value_and_ends_where_it_ends():
    """Between two points the earlier one holds; after the last one nothing is drawn."""
    dense = curve(range(100), np.linspace(2, 1, 100))
    sparse = curve([0, 40], [1.0, 2.0], metric="sparse")

    drawn = chart([dense, sparse], None, 10)[1].cells

    assert drawn == (0, 0, 0, 0, 7, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY)


def test_curves_share_one_axis_unless_they_count_otherwise():
    """A metric by epoch beside one by step has an axis of its own and no onset."""
    by_step, by_epoch = curve(range(10_000), np.ones(10_000)), curve(range(10), np.arange(10), metric="by epoch")

    first, second = chart([by_step, by_epoch], 5000, 20)

    assert first.aligned
    assert first.onset == 10
    assert not second.aligned
    assert second.onset is None
    assert len(second.cells) == 10


@pytest.mark.parametrize(("onset", "at", "enlarged"), [(500, 24, ""), (990, 38, "after"), (5, 5, "before"), (0, 0, "")])
def test_the_onset_is_never_squeezed_to_the_edge(onset, at, enlarged):
    """A side of the onset too short to be seen gets more cells, and that is told."""
    series = one(range(1000), np.ones(1000), onset=onset)

    assert (at, enlarged) == (series.onset, series.enlarged)


@pytest.mark.parametrize("onset", [-5, 2000])
def test_an_onset_outside_the_curve_is_not_marked(onset):
    """An onset before or after all points has no cell."""
    assert one(range(1000), np.ones(1000), onset=onset).onset is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([2.31, 0.42, np.nan], "2.31 → 0.42 → NaN"),
        ([0.8, 1.0, 31.0], "0.8 → 31"),
        ([2.0, 9.0, 1.0], "2 → 9 → 1"),
        ([0.003, 0.003], "3.0e-3"),
    ],
)
def test_values_tell_start_turn_and_end(values, said):
    """A curve's values are its start, an extreme well outside its ends, and its end."""
    assert said == one(range(len(values)), values).values


def test_the_largest_numbers_can_be_drawn():
    """Values whose difference overflows have their levels too."""
    series = one(range(3), [-1.7e308, 0.0, 1.7e308])

    assert series.cells == (0, 4, 7)
    assert series.values == "-1.7e308 → 1.7e308"


def test_no_points_no_series():
    """Curves without points are not drawn."""
    assert chart([curve([], [])], 5) == ()


@given(
    st.lists(st.tuples(st.integers(0, 10**12), st.floats(width=64)), min_size=1, max_size=60),
    st.integers(1, 50),
    st.one_of(st.none(), st.integers(-10, 10**12)),
)
def test_any_curve_can_be_drawn(points, cells, onset):
    """Whatever the steps and values, there are at most `cells` known signs and the onset lies on one of them."""
    points.sort(key=lambda p: p[0])
    series = one([p[0] for p in points], [p[1] for p in points], onset=onset, cells=cells)

    assert 1 <= len(series.cells) <= cells
    assert set(series.cells) <= {EMPTY, NONFINITE, *range(LEVELS)}
    assert series.onset is None or 0 <= series.onset < len(series.cells)
