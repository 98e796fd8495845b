"""One-line representations."""

from dataclasses import dataclass, field
from pathlib import Path

from loganalyst.model.shortrepr import MAX_LINE, Short


@dataclass(frozen=True, repr=False)
class Thing(Short):
    name: str = ""
    items: tuple[int, ...] = ()
    path: Path = field(default_factory=Path)
    value: float = 0.5
    none: None = None


def test_empty_and_default_fields_are_left_out_and_containers_come_last() -> None:
    """Containers show their size; numbers have four digits; long texts are cut."""
    assert repr(Thing("n", (1, 2, 3), Path("a/b"), 1 / 3)) == "Thing(name='n', path='a/b', value=0.3333, items=<3>)"
    assert repr(Thing("x" * 70)) == f"Thing(name='{'x' * 59}…', path='.')"


def test_a_line_is_bounded() -> None:
    """Many long fields end with an ellipsis."""

    @dataclass(frozen=True, repr=False)
    class Wide(Short):
        a: str = "?" * 59
        b: str = ""
        c: str = ""
        d: str = ""
        e: str = ""
        f: str = ""
        g: str = ""
        h: str = ""

    text = repr(Wide(*("x" * 60 for _ in range(8))))

    assert len(text) == MAX_LINE
    assert text.endswith("…)")
