"""The epoch and the step of a line, or its batch."""

import pytest

from loganalyst.sources.text.lines.numberwords import BAR, SLOT, plain_name
from loganalyst.sources.text.metrics.linepositions import mark_positions
from loganalyst.sources.text.metrics.shapenumber import Number


def roles(shape: str, *names: str) -> list[str | None]:
    """The roles of numbers with these names; `/` is a total."""
    numbers = [Number(i, name, plain_name(name), separated=True) for i, name in enumerate(names)]
    for n in numbers:
        if n.key == "/":
            n.key, n.plain, n.role = "", "", "total"
    mark_positions(numbers, shape.replace("#", SLOT).replace("|", BAR))
    return [n.role for n in numbers]


@pytest.mark.parametrize(
    ("shape", "names", "expected"),
    [
        ("epoch: # iter: #/# cost: #", ("epoch", "iter", "/", "cost"), ["epoch", "batch", "total", None]),
        ("[#/#][#/#] cost: #", ("", "/", "", "/", "cost"), ["epoch", None, "batch", "total", None]),
        ("iter: # batch: #", ("iter", "batch"), ["step", None]),
        ("| #/# global_step: #", ("", "/", "global_step"), ["batch", "total", None]),
        ("episode: # steps: #", ("episode", "steps"), ["step", None]),
        ("max steps: # best epoch: #", ("max steps", "best epoch"), [None, None]),
    ],
)
def test_one_epoch_and_one_step(shape: str, names: tuple[str, ...], expected: list[str | None]) -> None:
    assert roles(shape, *names) == expected


def test_what_loses_against_the_position_has_no_name() -> None:
    numbers = [Number(0, "iter", "iter"), Number(1, "batch", "batch")]
    mark_positions(numbers, f"iter {SLOT} batch {SLOT}")

    assert [n.key for n in numbers] == ["iter", ""]
