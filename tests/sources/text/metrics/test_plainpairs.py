"""Layouts of printed numbers that are written again as pairs of a name and a number."""

import random
import re

import polars as pl
import pytest

from loganalyst.sources.text.metrics.layoutfile import layouts, regex
from loganalyst.sources.text.metrics.lineforms import cleaned
from loganalyst.sources.text.metrics.plainpairs import SHORT, rewritten
from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame


def plain(line: str) -> str:
    text: str = pl.DataFrame({"text": [line]}).select(rewritten(pl.col("text"), line.lower())).item()
    return text


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        ("[validation] accuracy/loss: 0.2362/3.7488", "[validation] accuracy: 0.2362, loss: 3.7488"),
        ("Map (num_proc=4):  98%", "Map (num_proc=4)"),
        ("dev P/R/F1: 0.5 / 0.6 / 0.55", "dev P: 0.5, R: 0.6, F1: 0.55"),
        ("train loss/acc = 2.25 / 0.31", "train loss: 2.25, acc: 0.31"),
        ("step/total: 5/60", "step/total: 5/60"),  # a position, and no results
        ("train acc, test acc | 0.31, 0.25", "train acc: 0.31, test acc: 0.25"),
        ("Epoch 3: train 0.5 val 0.6", "Epoch 3: train 0.5 val 0.6"),  # `3` is no measure
        ("train_loss = 2.24f0 lr = 1.0f-5", "train_loss = 2.24e0 lr = 1.0e-5"),
        ("训练: 损失3.9897 正确率7.66%", "训练: 损失: 3.9897 正确率: 7.66%"),
        ("整体测试上的loss3.72", "整体测试上的loss: 3.72"),
        ("用时38.4秒", "用时38.4 秒"),
        ("エポック3 損失: 0.5", "エポック 3 損失: 0.5"),
        ("loss: 00nan | kl -0inf", "loss: nan | kl -inf"),
        ("loss = NaN32", "loss = NaN"),
        ("Train Loss: nan.. Val Loss: 0.5..", "Train Loss: nan, Val Loss: 0.5,"),
        ("Эпоха 1 из 30: loss 2.3", "Эпоха 1/30: loss 2.3"),
        ("epoch;3;train_loss;2.25;train_acc:0.28", "epoch: 3;train_loss: 2.25;train_acc: 0.28"),
        ("step,30,val loss,0.5,", "step: 30,val loss: 0.5,"),
        ("train,0.5,0.6", "train,0.5,0.6"),  # a row of a table
        ("loss pix|gan|tv: 0.5|0.6|0.7 lr 3", "loss pix: 0.5, loss gan: 0.6, loss tv: 0.7 lr 3"),
        ("Loss:0.7 LossA1:0.5LossB2:0.25", "Loss:0.7 LossA1:0.5 LossB2:0.25"),
        ("took 0.5s", "took 0.5s"),
        ("Training loss [step: 3, ep: 1] = 0.5", "step: 3, ep: 1, Training loss: 0.5"),
        ("Accuracy (top 5) = 0.5", "Accuracy (top 5) = 0.5"),  # no position
        ("Epoch 3, cost improved from 0.6 to 0.5", "Epoch 3, cost: 0.5"),
        ("val_losses[epoch]=0.5", "val_losses=0.5"),
        ("Client 3 accuracy: 0.61", "Client-3 accuracy: 0.61"),
        ("Task 3 of 10", "Task 3 of 10"),
        ("train 0.58 / 59.1%  val 0.6 / 50%", "train 0.58 train 59.1% val 0.6 val 50%"),
        ("Loaded 3 files, 20 samples", "Loaded 3 files, 20 samples"),
        ("Epoche 2 von 9 fertig", "Epoche 2/9 fertig"),
    ],
)
def test_a_layout_becomes_pairs(line: str, pairs: str) -> None:
    assert plain(line) == pairs


@pytest.mark.parametrize(
    ("lines", "metrics"),
    [
        (
            "Эпоха {i} из 9 -> train: loss {a}, acc {b} -> val: loss {c}, acc {b}\n",
            ["train loss", "train acc", "val loss", "val acc"],
        ),
        ("Epoch {i}/9 -> train: loss {a} -> val: loss {c}\n", ["train loss", "val loss"]),
        ("第{i}轮 ▏训练: 损失{a} ▏验证: 损失{c}\n", ["训练 损失", "验证 损失"]),
        ("┌ Info: Epoch {i}\n│   train_loss = {a}f0\n└   val_loss = {c}f0\n", ["train_loss", "val_loss"]),
        ("Epoch {i} Train set: Average loss: {a}\tAccuracy: {i}/9\t{c}\n", ["Average loss", "Accuracy"]),
    ],
)  # fmt: skip
def test_the_numbers_are_read(lines: str, metrics: list[str]) -> None:
    text = "".join(lines.format(i=i, a=f"{2 / i:.3f}", b=f"{i / 10:.2f}", c=f"{3 / i:.3f}") for i in range(1, 6))
    found = parse(frame(text))

    assert found["metric"].unique(maintain_order=True).to_list() == metrics
    assert found.filter(metric=metrics[0]).select("epoch", "value").rows() == [
        (float(i), float(f"{2 / i:.3f}")) for i in range(1, 6)
    ]
    last = found.filter(metric=metrics[-1])["value"].to_list()
    assert last == [float(f"{i / 10:.2f}" if "acc" in metrics[-1] else f"{3 / i:.3f}") for i in range(1, 6)]


def test_what_a_layout_has_is_a_part_of_each_match() -> None:
    """Of many lines near to each layout, those that a slow pattern matches have the part that is looked for."""
    draw = random.Random(7)
    words = ["/", ":", ",", "|", "(", "=", "->", "0.5", ".5", "-1.5e-3", "+3.E2", "nan", "INF", "tr", "Test", "median"]
    words += ["损失", "ſ", "é", "\u0903x", "\xa0", "\u3000", "\x85", " ", " ", ""]
    slow = [layout for layout in layouts() if layout.part]
    examples = [layout.line for layout in slow]
    lines = pl.Series(
        "".join(draw.choice(words) if draw.random() < 0.15 else word for word in re.split(r"(\W)", example))
        for example in draw.choices(examples, k=30_000)
    )

    for layout in slow:
        found = lines.filter(lines.str.contains(layout.lines or layout.regex)).unique().to_list()
        assert [line for line in found if not regex(layout.part).search(line.lower())] == []
        assert len(found) > 30
    assert len(slow) > 8


def test_what_another_layout_made_is_seen() -> None:
    """The part of a slow pattern may come of an earlier one or of a decimal comma, or lie in a long text."""
    assert plain("dev P/R: tensor(0.5) / tensor(0.6)") == "dev P: 0.5, R: 0.6"
    assert plain("dev P/R: 0.5/0.6" + " x" * SHORT) == "dev P: 0.5, R: 0.6" + " x" * SHORT
    assert cleaned(pl.Series(["dev P/R: 0,5 / 0,6"]))["text"].item() == "dev P: 0.5, R: 0.6"
    assert cleaned(pl.Series(["dev P/R: 1,234.5/2.5"]))["text"].item() == "dev P: 1234.5, R: 2.5"
    assert cleaned(pl.Series(["a, b: 1,234.5, 0.6"]))["text"].item() == "a: 1234.5, b: 0.6"
