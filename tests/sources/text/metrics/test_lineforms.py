"""Forms of lines, and the regexes made of them."""

import numpy as np
import polars as pl
import pytest

from loganalyst.sources.text.lines.chunks import chunk_of
from loganalyst.sources.text.lines.numberwords import BAR, CLOCK, JOIN, SLOT
from loganalyst.sources.text.metrics import lineforms


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("2024-05-01 10:00:02 step 3 | loss: 0.5", f"{CLOCK} step {SLOT} | loss: {SLOT}"),
        ("number of nan iterations: 3", f"number of{JOIN}nan iterations: {SLOT}"),
        ("loss: nan lr: -1e-5", f"loss: {SLOT} lr: {SLOT}"),
        ("37%|███  | 3/8 [00:01<00:02, loss=0.5]", f"{SLOT}%{BAR} {SLOT}/{SLOT} [{CLOCK}<{CLOCK}, loss={SLOT}]"),
        ("conv3 v1.3 ok", "conv3 v1.3 ok"),
    ],
)
def test_numbers_times_and_bars_leave_slots(line: str, form: str) -> None:
    (found,) = lineforms.learn(pl.Series([line]))

    assert found.text == form


@pytest.mark.parametrize(
    ("line", "clean"),
    [
        (
            "Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.25",
            "AP@0.50-0.95_all_100 = 0.25",
        ),
        ("loss tensor(0.5, device='cuda:0')", "loss 0.5"),
        ("tps: 12,345 mfu: 38.5", "tps: 12345 mfu: 38.5"),
        ("iter:  1,012,000, lr:(1.0e-4,)", "iter: 1012000, lr:(1.0e-4,)"),
        ("loss: 1,234 acc: 0,512", "loss: 1.234 acc: 0.512"),  # decimal commas, perhaps
        ("shape=1,200,0.5", "shape=1,200,0.5"),  # a list
        ("test-rmse:0.5+0.01", "test-rmse:0.5 + 0.01"),
    ],
)
def test_odd_ways_to_print_are_cleaned(line: str, clean: str) -> None:
    assert lineforms.cleaned(pl.Series([line]))["text"].to_list() == [clean]


def test_a_template_takes_lines_of_its_form_only() -> None:
    lines = ["step 3 | loss: 0.5", "step 4 | loss: nan", "step 5 | acc: 0.5", "step 6 | loss: 0.5 x"]
    (form,) = lineforms.learn(pl.Series(lines[:1]))
    matched, (step, loss) = lineforms.take(form, chunk_of("\n".join(lines).encode(), np.arange(4)), np.arange(4))

    assert matched.tolist() == [True, True, False, False]
    assert step.tolist() == [3, 4]
    np.testing.assert_array_equal(loss, [0.5, np.nan])


@pytest.mark.parametrize("line", ["1/2/3 loss 0.5", 'File "a.py", line 3'])
def test_lines_without_a_certain_template_or_with_noise(line: str) -> None:
    (form,) = lineforms.learn(pl.Series([line]))

    assert form.template is None or form.usual is None


def test_a_form_met_often_stays_known() -> None:
    """A line of three is printed often; later it counts alone."""
    (form,) = lineforms.learn(pl.Series(["epoch 1 lr 0.1 size 3"]))

    assert form.meaning(1) != form.usual
    assert form.meaning(3) == form.usual
    assert form.meaning(1) == form.usual


def test_a_skipped_batch_is_no_part_of_the_curve() -> None:
    """Unless the program prints such a line again and again."""
    form = lineforms.learn(pl.Series(["step 300: loss is nan, skipping batch"]))[0]
    counted = lineforms.learn(pl.Series(["epoch 3 loss 0.5, skipped: 2"]))[0]

    assert form.meaning(1) is None
    assert form.meaning(3) is not None
    assert counted.meaning(1) is not None
