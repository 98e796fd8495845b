"""Shapes in which hand-written loops print results: the exact values of each, with their steps."""

import polars as pl
import pytest

from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame

N = range(1, 6)
LOSS = [0.9, 0.7, 0.5, 0.4, 0.3]
VAL = [0.95, 0.8, 0.6, 0.55, 0.5]
ACC = [0.31, 0.42, 0.53, 0.64, 0.75]

# the line, and the names under which it has the loss, the held-out loss and the accuracy
SHAPES = {
    "('Epoch: ', {e})\n('loss: ', {l}, 'val_loss: ', {v})": ("loss", "val_loss", None),
    "('epoch', {e}, 'train loss', {l}, 'accuracy', {a})": ("train loss", None, "accuracy"),
    "Epoch {e}: OrderedDict([('loss', {l}), ('val_loss', {v})])": ("loss", "val_loss", None),
    "epoch {e} loss tensor({l}, device='cuda:0', grad_fn=<NllLossBackward0>) acc tensor({a})": ("loss", None, "acc"),
    "Epoch: {e}/5.. Training Loss: {l}.. Test Loss: {v}.. Test Accuracy: {a}": (
        "Training Loss", "Test Loss", "Test Accuracy",
    ),
    "Epoch {e}/5... Step: {e}00... Loss: {l}... Val Loss: {v}": ("Loss", "Val Loss", None),
    ">>> epoch {e} tr_loss={l} te_loss={v} te_acc={a}": ("tr_loss", "te_loss", "te_acc"),
    "# Epoch {e}: loss {l} val_loss {v}": ("loss", "val_loss", None),
    "第{e}轮 训练损失: {l} 验证损失: {v} 准确率: {a}": ("训练损失", "验证损失", "准确率"),
    "에폭 {e}: 손실 {l} 정확도 {a}": ("손실", None, "정확도"),
    "Эпоха {e}/5, потери: {l}, точность: {a}": ("потери", None, "точность"),
    "Epoch {e}: Loss(train) = {l}, Loss(test) = {v}, R^2 = {a}": ("Loss(train)", "Loss(test)", "R2"),
    "epoch {e} train/val loss: {l} / {v}": ("train loss", "val loss", None),
    "epoch {e} loss (train/val): {l}/{v}": ("train loss", "val loss", None),
    "seed0 ep0{e} loss={l} val_loss={v}": ("loss", "val_loss", None),
    "  t1 e{e} loss {l} acc(cur) {a}": ("loss", None, "acc(cur)"),
    "  {e}  trn {l} / {a}    vld {v} / {a}    8.1s": ("trn", "vld", "trn_2"),
    "{e}0k | train_loss {l} | val_loss {v}": ("train_loss", "val_loss", None),
    "<epoch: {e}, iter: 1,000> loss: {l}, Average PSNR : {a}dB": ("loss", None, "Average PSNR"),
    "E0{e} | tr CE {l} acc {a} | va CE {v} acc 0.9": ("tr CE", "va CE", "acc"),
    "epoch {e} train.loss: {l} val.loss: {v}": ("train.loss", "val.loss", None),
    "Mean loss over last 100 batches: {l} (epoch {e})": ("Mean loss", None, None),
}  # fmt: skip


def values(found: pl.DataFrame, metric: str) -> list[float]:
    return found.filter(metric=metric)["value"].to_list()


@pytest.mark.parametrize("shape", SHAPES)
def test_each_value_has_its_name(shape: str) -> None:
    lines = [shape.format(e=e, l=x, v=v, a=a) for e, x, v, a in zip(N, LOSS, VAL, ACC, strict=True)]
    found = parse(frame("\n".join(lines)))
    loss, val, acc = SHAPES[shape]

    assert values(found, loss) == LOSS
    assert val is None or values(found, val) == VAL
    assert acc is None or values(found, acc) == ACC


@pytest.mark.parametrize(
    ("shape", "steps"),
    [
        ("('Epoch: ', {e})\n('loss: ', {l})", [1, 2, 3, 4, 5]),
        ("seed0 ep0{e} loss={l}", [1, 2, 3, 4, 5]),
        ("{e}0k | loss {l}", [10_000, 20_000, 30_000, 40_000, 50_000]),
        ("step: {e}M loss: {l}", [1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000]),
        ("  {e} loss {l}", [1, 2, 3, 4, 5]),
    ],
)
def test_each_value_has_its_position(shape: str, steps: list[int]) -> None:
    found = parse(frame("\n".join(shape.format(e=e, l=x) for e, x in zip(N, LOSS, strict=True))))
    at = found.select(pl.coalesce(pl.col("epoch").cast(pl.Int64), "step") if steps[0] == 1 else "step").to_series()

    assert at.to_list() == steps


def test_decimal_commas() -> None:
    """German, French, Russian and other programs print them; not where the line has a decimal point, too."""
    lines = [f"Epoche {e}: Verlust {x} KL 3,{e}251".replace(".", ",") for e, x in zip(N, LOSS, strict=True)]
    found = parse(frame("\n".join(lines)))

    assert values(found, "Verlust") == LOSS
    assert values(found, "KL") == [3.1251, 3.2251, 3.3251, 3.4251, 3.5251]


@pytest.mark.parametrize("line", ["kernel (3,3) loss 1", "loss 1 of layers 1,2,3", "loss: 1, sizes 224,224"])
def test_other_commas_are_no_decimal_ones(line: str) -> None:
    assert set(values(parse(frame("\n".join(["epoch 1", *[line] * 5]))), "loss")) <= {1.0}


def test_a_mean_over_episodes_is_a_return() -> None:
    lines = [f"Total T: {i}00 Reward: {i}.5\nEvaluation over 10 episodes: {i}.25" for i in N]
    found = parse(frame("\n".join(lines)))

    assert values(found, "Evaluation (episodes)") == [1.25, 2.25, 3.25, 4.25, 5.25]
    assert 10.0 not in found["value"].to_list()


def test_two_names_and_two_values() -> None:
    lines = [
        f"Update {i}, num timesteps {i}000\n"
        f"Last 10 training episodes: mean/median reward {i}.5/{i}.4, min/max reward 0/{i}"
        for i in N
    ]
    found = parse(frame("\n".join(lines)))

    assert values(found, "mean reward") == [1.5, 2.5, 3.5, 4.5, 5.5]
    assert values(found, "median reward") == [1.4, 2.4, 3.4, 4.4, 5.4]
    assert values(found, "max reward") == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_bare_tensor_with_a_gradient_is_a_loss() -> None:
    lines = [f"tensor({x}, device='cuda:0', grad_fn=<MeanBackward0>)" for x in LOSS]

    assert values(parse(frame("\n".join(lines))), "loss tensor") == LOSS


def test_a_time_of_an_iteration_is_no_position() -> None:
    lines = [f"it {i}00 loss {x} | iter 0.3s | {700 + i}.5 img/s" for i, x in zip(N, LOSS, strict=True)]
    found = parse(frame("\n".join(lines)))

    assert found.filter(metric="loss")["step"].to_list() == [100, 200, 300, 400, 500]
    assert values(found, "img/s") == [701.5, 702.5, 703.5, 704.5, 705.5]
    assert values(found, "iter time") == [0.3] * 5


@pytest.mark.parametrize(
    "line",
    [
        ">>> loss = 0.5 * epoch",
        ">>> for epoch in range(3): print(0.5)",
        "# loss 0.5",
        "name 'x', 3 files",
        "episode finished after 12 timesteps",
        "took 3 of 4 train/val splits",
    ],
)
def test_code_and_counts_are_no_results(line: str) -> None:
    assert parse(frame("\n".join([line] * 5)))["value"].to_list() == []
