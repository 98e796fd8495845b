"""Numbers read column by column equal those that a regex finds line by line."""

import math
from decimal import Decimal

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines.chunks import chunk_of
from loganalyst.sources.text.metrics import digitcolumns, lineforms

NUMBERS = st.sampled_from(
    ["1", "7", "12", "0.5", "0.25", "-0.5", "+3", ".5", "5.", "1e-05", "9.99e-05", "1E+22", "1.5e-30", "2e300", "1e999",
     "nan", "NaN", "inf", "-inf", "0.6931471805599453", "123456789012345678", "-0", "00012",
     "-1.2345678901234567e-05", "3.1415926535897932384626", "9007199254740993",
     "9007199254740993e-27", "1234567890123456e28"]
)  # fmt: skip
LINES = st.builds(
    "2024-05-0{} 10:00:0{},{} INFO w2v step {} | loss {} lr={} ok".format,
    st.sampled_from("12"), st.sampled_from("459"), st.sampled_from(["123", "456"]), NUMBERS, NUMBERS, NUMBERS,
)  # fmt: skip
OTHERS = st.sampled_from(["2024-05-01 10:00:00,123 INFO w3v step 1 | loss 2 lr=3 ok", "", "chatter é", "step 5"])


@given(LINES, st.lists(st.one_of(LINES, OTHERS), min_size=2, max_size=30), st.integers(1, 9))
def test_columns_and_regex_take_the_same_numbers(first: str, rest: list[str], times: int) -> None:
    written = [first] * times + rest
    (form,) = lineforms.learn(pl.Series([first]))
    if form.template is None:
        return
    chunk = chunk_of("\n".join(written).encode(), np.arange(len(written)))
    matched, slots = lineforms.take(form, chunk, np.arange(len(written)), least=2)
    expected, values = lineforms._extracted(form.template, pl.Series(written))
    assert matched.tolist() == expected.tolist()
    assert len(slots) == len(values) == 3
    for slot, value in zip(slots, values, strict=True):
        np.testing.assert_array_equal(slot, value)
        assert (np.signbit(slot) == np.signbit(value))[~np.isnan(value)].all()


def test_lines_that_differ_in_digits_are_read_without_the_regex() -> None:
    written = [f"12:00:{k:02} step {k} | loss {k / 7:.4f} lr {k}e-05" for k in range(10, 90) if k < 60]
    written *= 2
    (form,) = lineforms.learn(pl.Series(written[:1]))
    chunk = chunk_of("\n".join(written).encode(), np.arange(len(written)))
    lengths = np.diff(chunk.starts) - 1
    taken, (step, loss, rate) = digitcolumns.read(chunk.data, chunk.starts[:-1], lengths, form.columns)
    assert taken.all()
    assert step.tolist() == [*range(10, 60)] * 2
    assert loss.tolist() == [float(f"{k / 7:.4f}") for k in range(10, 60)] * 2
    assert rate.tolist() == [float(f"{k}e-05") for k in range(10, 60)] * 2


def test_a_digit_of_a_word_is_no_number() -> None:
    written = ["w2v step 1 | loss 2"] * 70 + ["w3v step 1 | loss 2"] * 70
    (form,) = lineforms.learn(pl.Series(written[:1]))
    chunk = chunk_of("\n".join(written).encode(), np.arange(140))
    taken, _ = digitcolumns.read(chunk.data, chunk.starts[:-1], np.diff(chunk.starts) - 1, form.columns)
    assert taken.tolist() == [True] * 70 + [False] * 70


@given(st.lists(st.floats(0, 1e22).map(repr), min_size=1, max_size=40), st.integers(0, 3))
def test_a_number_of_many_digits_is_rounded_like_its_text(numbers: list[str], more: int) -> None:
    written = [f"step 1 | loss {number}" for text in numbers for number in (text, _halfway(text, more))]
    (form,) = lineforms.learn(pl.Series(written[:1]))
    chunk = chunk_of("\n".join(written).encode(), np.arange(len(written)))
    lengths = np.diff(chunk.starts) - 1
    taken, (_, loss) = digitcolumns.read(chunk.data, chunk.starts[:-1], lengths, form.columns, least=1, misses=1000)
    assert loss.tolist() == [float(line[14:]) for line, is_taken in zip(written, taken, strict=True) if is_taken]
    assert taken[0]


def _halfway(text: str, more: int) -> str:
    """About what lies half way to the next double, in some digits more."""
    value = Decimal(text) + Decimal(math.ulp(float(text))) / 2
    return f"{value:.{len(text) + more}g}"


def test_drawn_bars_differ_in_their_blocks_only() -> None:
    written = [
        f"Epoch 3:  {50 + k}%|{bar}   | {50 + k}/99 [00:10<00:10, loss={k / 7:.3f}]"
        for k, bar in enumerate(["█████▏", "█████▎", "█████▌", "██████"] * 9)
    ]
    (form,) = lineforms.learn(pl.Series(written[:1]))
    written += [written[0].replace("█▏", "█###"), written[1].replace("|█", "||##")]
    chunk = chunk_of("\n".join(written).encode(), np.arange(len(written)))
    taken, slots = digitcolumns.read(chunk.data, chunk.starts[:-1], np.diff(chunk.starts) - 1, form.columns, least=3)
    assert taken.tolist() == [True] * 36 + [False] * 2
    assert slots[-1].tolist() == [float(f"{k / 7:.3f}") for k in range(36)]
