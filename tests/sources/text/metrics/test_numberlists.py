"""Results that are lists."""

from loganalyst.sources.text.lines.numberwords import SLOT
from loganalyst.sources.text.metrics import shapeparts


def numbers(shape: str, *, rare: bool = False) -> list[tuple[int, str, str | None]]:
    """Index, name and role of each number; `#` is a number."""
    parts = shapeparts.parts(shape.replace("#", SLOT), rare=rare)
    return [(n.index, n.key, n.role) for n in parts.numbers if n.key or n.role]


def test_a_list_printed_once_is_no_result() -> None:
    """Printed often, a list has the values of classes, and the first is taken."""
    shape = "loss: [#, #, #]"

    assert numbers(shape, rare=True) == []
    assert numbers(shape) == [(0, "loss", None)]
    assert shapeparts.has_lists(shape)
    assert not shapeparts.has_lists("loss: #")
