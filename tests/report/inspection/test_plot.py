"""The figure of checkpoints."""

from matplotlib.figure import Figure

from loganalyst.model import TensorStats
from loganalyst.report.inspection import plot


def test_layers_of_one_kind_are_kept_together():
    """Kinds in the order of the file, layers by number."""
    names = ["h.10.w", "h.2.w", "emb.w", "h.2.b", "h.10.b"]

    assert plot._by_kind(names) == ["h.2.w", "h.10.w", "emb.w", "h.2.b", "h.10.b"]


def test_only_floating_point_tensors_are_drawn():
    """Counters and empty tensors have no distribution."""
    numbers = (0, 0, 0, 0, None, None, None, None, None)
    kinds = [("float32", 4), ("bfloat16", 4), ("int64", 4), ("float32", 0)]

    assert [plot._drawn(TensorStats("t", (4,), dtype, n, *numbers)) for dtype, n in kinds] == [True, True, False, False]


def test_many_rows_are_named_by_kind():
    """Above 70 rows each kind of tensor has one name."""
    few, many = Figure().subplots(), Figure().subplots()
    plot._rows(few, [f"h.{i}.w" for i in range(3)])
    plot._rows(many, [f"h.{i}.w" for i in range(71)])

    assert [tick.get_text() for tick in few.get_yticklabels()] == ["h.0.w", "h.1.w", "h.2.w"]
    assert [tick.get_text() for tick in many.get_yticklabels()] == ["h.*.w"]
