"""Rows of bare numbers below a line of names."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.metrics import barerows
from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame

KIMG = """\
anime64 / hinge / ema .999
kimg    Ld     Lg     fid
    0  0.901  +0.734   220.44
   50  1.007  +0.585   -
  100  1.295  -0.766   152.23
  150  0.808  +0.575   -
kept 150
"""
RATING = """\
superbatch  loss(train)  loss(val)   Elo (8+.08, 2k games)
   1        0.50         0.51
   2        0.40         0.42
   3        0.30         0.33   -64.9 ± 7
   4        0.20         0.25
"""


REMARKS = """\
epoch\tloss\tval_loss\t|\tmae
0\t0.9\t0.95\t|\t5.5\t|  Best result at epoch 0
1\t0.8\t0.85\t|\t4.5\t|  Best result at epoch 1
2\t0.7\t0.75\t|\t3.5\t|  Best result at epoch 2
3\t0.6\t0.65\t|\t2.5\t|  Best result at epoch 3
"""


def columns(text: str) -> dict[str, list[tuple[int, float]]]:
    found = parse(frame(text))
    return {m: found.filter(metric=m).select("step", "value").rows() for m in found["metric"].unique().to_list()}


def test_a_remark_behind_the_cells_is_none() -> None:
    found = columns(REMARKS)

    assert found["mae"] == [(0, 5.5), (1, 4.5), (2, 3.5), (3, 2.5)]
    assert set(found) == {"loss", "val_loss", "mae"}


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("2024-03-05 09:12:4{},000 - ", "epoch,train_loss,val_loss"),
        ("[2024-03-05 09:12:4{}] INFO: ", "epoch  train_loss  val_loss"),
        ("INFO:root:", "epoch | train_loss | val_loss"),
        ("2024-03-05 09:12:4{} main INFO ", "kimg;train_loss;val_loss"),
    ],
)
def test_a_table_behind_the_head_of_a_logger(head: str, names: str) -> None:
    sep = names[len("epoch") : names.index("train")] if names.startswith("epoch") else ";"
    rows = [names, *(sep.join(map(str, (k, 1 / k, 2 / k))) for k in range(1, 6))]
    found = columns("".join(f"{head.format(k)}{row}\n" for k, row in enumerate(rows)))

    assert found["train_loss"] == [(k, 1 / k) for k in range(1, 6)]
    assert set(found) == {"train_loss", "val_loss"}


def test_names_and_cells_without_a_value() -> None:
    found = columns(KIMG)

    assert found["Ld"] == [(0, 0.901), (50, 1.007), (100, 1.295), (150, 0.808)]
    assert found["Lg"] == [(0, 0.734), (50, 0.585), (100, -0.766), (150, 0.575)]
    assert found["fid"] == [(0, 220.44), (100, 152.23)]


def test_a_last_column_that_is_often_empty() -> None:
    found = columns(RATING)

    assert found["loss(train)"] == [(1, 0.5), (2, 0.4), (3, 0.3), (4, 0.2)]
    assert found["loss(val)"] == [(1, 0.51), (2, 0.42), (3, 0.33), (4, 0.25)]


@pytest.mark.parametrize(
    "text",
    [
        "#iter L_pde L_bc phase\n" + "".join(f"{i}00 0.{i} 0.5 adam\n" for i in range(1, 6)),
        "| it | mse train | mse holdout |\n|---:|---:|---:|\n"
        + "".join(f"| {i}00 | 0.{i} | 0.5 |\n" for i in range(1, 6)),
        "it  train  valid  note\n" + "".join(f"{i}00  0.{i}  0.5  * best\n" for i in range(1, 6)),
    ],
)
def test_rows_between_bars_and_with_words_behind_them(text: str) -> None:
    found = columns(text)

    assert [rows for rows in found.values() if rows[0][1] == 0.1] == [[(i * 100, i / 10) for i in range(1, 6)]]
    assert len(found) == 2


@pytest.mark.parametrize(
    "text",
    [
        "step | tr.loss tr.acc | te.loss\n" + "".join(f"  {i}00| 0.{i} 0.5 |  0.{i} \n" for i in range(1, 6)),
        "it;D;G\n" + "".join(f"{i}00;0.{i};0.{i}\n" for i in range(1, 6)),
        "tick\tgap\trate\n-----------\n" + "".join(f"{i}00\t0.{i}\t0.5\n" for i in range(1, 6)),
    ],
)
def test_other_separators(text: str) -> None:
    steps = {tuple(step for step, _ in rows) for rows in columns(text).values()}

    assert steps == {(100, 200, 300, 400, 500)}
    assert len(columns(text)) >= 2


@pytest.mark.parametrize(
    "text",
    [
        "rows of the matrix:\n" + "5 1 0\n" * 6,  # nothing counts
        "the best of these\n1 0.5\n2 0.4\n3 0.3\n",  # too few
        "a b c d\n" + "".join(f"{i} 0.5\n" for i in range(6)),  # the names are others
        "".join(f"{i} 0.5 0.6\n" for i in range(6)),  # no names
    ],
)
def test_other_numbers_are_no_table(text: str) -> None:
    lines = pl.DataFrame({"text": text.split("\n")}).with_row_index("row")

    assert barerows.cells(lines).is_empty()


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1)), min_size=4, max_size=20))
def test_every_value_is_read(rows: list[tuple[float, float]]) -> None:
    text = ["kilo  first  second", *(f"{10 * k} {a!r} {b!r}" for k, (a, b) in enumerate(rows))]
    found = barerows.cells(pl.DataFrame({"text": text}).with_row_index("row"))

    assert found.filter(name="first", role="metric")["value"].to_list() == [a for a, _ in rows]
    assert found.filter(name="second")["value"].to_list() == [b for _, b in rows]
    assert found.filter(role="step")["value"].to_list() == [10.0 * k for k in range(len(rows))]
