"""What is read from printed lines: one case a shape of line, exact rows; what must give nothing; NaN stays NaN."""

import csv
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.model import SCHEMAS, Time
from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame

CORPUS = Path(__file__).parents[4] / "../shared/corpus"

NAN = math.nan
Row = tuple[str, int, float | None, float]


def rows(text: str) -> list[Row]:
    """(metric, step, epoch, value) of every point; NaN as None to compare."""
    return plain(parse(frame(text)).select("metric", "step", "epoch", "value").rows())


def plain(found: list[Row]) -> list[Row]:
    return [(m, s, e, "nan" if v != v else v) for m, s, e, v in found]  # type: ignore[misc]


def bar(share: int, i: int, n: int, post: str, head: str = "") -> str:
    return f"{head}{share:3}%|{'█' * (share // 10):10}| {i}/{n} [00:10<00:20,  3.1it/s, {post}]"


KERAS_1 = "100/400 [=====>........................] - ETA: 3s - loss: 0.9 - accuracy: 0.5"
KERAS_2 = "400/400 [==============================] - ETA: 0s - loss: 0.8 - accuracy: 0.6"
KERAS_3 = "400/400 [==============================] - 3s 6ms/step - loss: 0.8 - accuracy: 0.6 - val_loss: nan"
KERAS_NEW = "400/400 ━━━━━━━━━━━━━━━━━━━━ 2s 4ms/step - accuracy: 0.7 - loss: 0.5 - val_loss: 0.4"
MEGATRON = (
    " iteration      100/    5000 | consumed samples:         3200 | elapsed time per iteration (ms): 345.1 | "
    "learning rate: 1.500E-04 | lm loss: 7.100000E+00 | loss scale: 65536.0 | grad norm: nan | "
    "number of skipped iterations:   0 | number of nan iterations:   2 |"
)
SB3 = """-----------------------------------
| rollout/           |            |
|    ep_rew_mean     | 22.1       |
| time/              |            |
|    fps             | 1042       |
|    iterations      | 2          |
|    total_timesteps | 4096       |
| train/             |            |
|    approx_kl       | 0.0081     |
|    loss            | nan        |
-----------------------------------"""
YOLO = "\n".join(
    [
        "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size",
        "\r        1/3      2.5G       1.30       2.40         12        640:  50%|█████     | 25/50 [00:10<00:10]"
        "\r        1/3      2.5G       1.20       2.30         12        640: 100%|██████████| 50/50 [00:20<00:00]",
        "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██| 4/4",
        "                   all        128        929       0.64       0.53      0.605      0.446",
    ]
)

CASES: dict[str, tuple[str, list[Row]]] = {
    "a logger's module and line": (
        "".join(
            f"2024-05-01 10:00:0{k} | core.loop:report:254 - epoch: 1/3, iter: {k}0/90, total_loss: 2.{k}, lr: 0.1\n"
            for k in (1, 2, 3)
        ),
        [row for k in (1, 2, 3) for row in (("total_loss", 10 * k, 1.0, 2 + k / 10), ("lr", 10 * k, 1.0, 0.1))],
    ),
    "table-like line with a counter within the epoch": (
        "| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch  7.59 | loss 12.28 | ppl 216359.45\n"
        "| epoch   1 |   400/ 2983 batches | lr 20.00 | ms/batch  7.39 | loss   nan | ppl      nan\n"
        "| end of epoch   1 | time: 37.9s | valid loss  5.53 | valid ppl   251.4\n"
        "| epoch   2 |   200/ 2983 batches | lr  5.00 | ms/batch  7.59 | loss  6.00 | ppl   403.43",
        [
            ("lr", 200, 1, 20.0),
            ("ms/batch", 200, 1, 7.59),
            ("loss", 200, 1, 12.28),
            ("ppl", 200, 1, 216359.45),
            ("lr", 400, 1, 20.0),
            ("ms/batch", 400, 1, 7.39),
            ("loss", 400, 1, NAN),
            ("ppl", 400, 1, NAN),
            ("time", 400, 1, 37.9),
            ("valid loss", 400, 1, 5.53),
            ("valid ppl", 400, 1, 251.4),
            ("lr", 3183, 2, 5.0),
            ("ms/batch", 3183, 2, 7.59),
            ("loss", 3183, 2, 6.0),
            ("ppl", 3183, 2, 403.43),
        ],
    ),
    "epoch and batch as a fraction, and the pass over held-out data, of WeNet": (
        "".join(
            f"2024-07-15 10:0{e}:0{b},000 DEBUG TRAIN Batch {e}/{b}00 loss {e}.{b} lr 0.0001 rank 0\n"
            + f"2024-07-15 10:0{e}:3{b},000 DEBUG CV Batch {e}/{b}00 loss {e}.5{b} rank 0\n" * (b == 2)
            for e in (0, 1)
            for b in (0, 1, 2)
        ),
        [
            *[row for b in (0, 1, 2) for row in (("loss", 100 * b, 0, b / 10), ("lr", 100 * b, 0, 0.0001))],
            ("val loss", 200, 0, 0.52),
            *[
                row
                for b in (0, 1, 2)
                for row in (("loss", 201 + 100 * b, 1, 1 + b / 10), ("lr", 201 + 100 * b, 1, 0.0001))
            ],
            ("val loss", 401, 1, 1.52),
        ],
    ),
    "an epoch with a sign": (
        "".join(f"Validation Loss for Epoch #{k} : 2.{k}\n" for k in (1, 2, 3)),
        [("Validation Loss", k, k, 2 + k / 10) for k in (1, 2, 3)],
    ),
    "an epoch in brackets": (
        "".join(f"Epoch({k}) Train Loss -> 2.{k}\n" for k in (1, 2, 3)),
        [("Train Loss", k, k, 2 + k / 10) for k in (1, 2, 3)],
    ),
    "the name before the epoch": (
        "".join(f"Average cost over epoch {k} = 2.{k}\nThe accuracy of epoch {k} is: 0.{k}\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("Average cost", k, k, 2 + k / 10), ("accuracy", k, k, k / 10))],
    ),
    "the name before the epoch and the step": (
        "".join(f"Loss at epoch {k} and iteration 70 is 2.{k}\n" for k in (1, 2, 3)),
        [("Loss", 70 * k, k, 2 + k / 10) for k in (1, 2, 3)],
    ),
    "the position counted behind the name": (
        "".join(f"Reward after {k}00 episodes: -20.{k}\n" for k in (1, 2, 3)),
        [
            row
            for k in (1, 2, 3)
            for row in (("episode", 100 * k, None, 100 * k), ("Reward", 100 * k, None, -20 - k / 10))
        ],
    ),
    "the position counted before the name": (
        "".join(f"After {k}00 steps: nll 2.{k}\n" for k in (1, 2, 3)),
        [("nll", 100 * k, None, 2 + k / 10) for k in (1, 2, 3)],
    ),
    "a step on a line of its own": (
        "".join(f"---------\nIteration: \t {k}8\nLoss:  \t 0.{k}\n" for k in (1, 2, 3)),
        [("Loss", 10 * k + 8, None, k / 10) for k in (1, 2, 3)],
    ),
    "a step and its total on a line of their own": (
        "".join(f"Step {k}0/500\nloss 2.{k}\n" for k in (1, 2, 3)),
        [("loss", 10 * k, None, 2 + k / 10) for k in (1, 2, 3)],
    ),
    "thousands of BasicSR": (
        "".join(
            f"2020-08-15 15:5{k}:30,390 INFO: [a..][epoch:20{k}, iter: {it}, lr:(1.000e-04,)] [eta: 1 day, 18:13:17] "
            f"l_g_pix: 3.{k}000e-04 \n"
            for k, it in ((1, "    100"), (2, " 20,100"), (3, "1,020,100"))
        ),
        [
            row
            for k, step in ((1, 100), (2, 20_100), (3, 1_020_100))
            for row in (("lr", step, 200 + k, 1e-4), ("l_g_pix", step, 200 + k, 3e-4 + k * 1e-5))
        ],
    ),
    "how long an episode was, beside its number, of keras-rl": (
        "".join(
            f" {k}9160/50000: episode: 56{k}, duration: 0.0{k}s, episode steps: {k}3, episode reward: {k}3.000\n"
            for k in (1, 2, 3)
        ),
        [
            row
            for k in (1, 2, 3)
            for row in (
                ("episode", 560 + k, None, 560 + k),
                ("duration", 560 + k, None, k / 100),
                ("episode steps", 560 + k, None, 10 * k + 3),
                ("episode reward", 560 + k, None, 10 * k + 3),
            )
        ],
    ),
    "updates of wav2letter": (
        "".join(f"epoch:   {k} | nupdates:    {k}000 | loss:   4{k}.5 | dev-clean-WER: 9{k}.5\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("loss", 1000 * k, k, 40.5 + k), ("dev-clean-WER", 1000 * k, k, 90.5 + k))],
    ),
    "scores of games": (
        "".join(f"Game {k} Score {k * k} Record: 9\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("Game", k, None, k), ("Score", k, None, k * k), ("Record", k, None, 9))],
    ),
    "columns far apart, of percentages": (
        "Epoch  Train Loss   WER%     LR\n1      0.5128       23.96    1.50e-05\n"
        "2      0.2093       20.43    1.50e-05\n",
        [
            *(("Train_Loss", 1, 1, 0.5128), ("WER%", 1, 1, 23.96), ("LR", 1, 1, 1.5e-5)),
            *(("Train_Loss", 2, 2, 0.2093), ("WER%", 2, 2, 20.43), ("LR", 2, 2, 1.5e-5)),
        ],
    ),
    "the loss, as DL4J calls it": (
        "".join(
            f"06:38:1{k}.402 [main] INFO org.deeplearning4j.optimize.listeners.ScoreIterationListener - "
            f"Score at iteration {k}00 is 1.{k}25\n"
            for k in (1, 2, 3)
        ),
        [("loss", 100 * k, None, 1.025 + k / 10) for k in (1, 2, 3)],
    ),
    "columns of several words, far apart": (
        "Episode          Prey Reward      Total Reward\n0                 3659                  4049\n"
        "1                   11.5                  113\n",
        [
            ("Prey_Reward", 0, 0, 3659.0),
            ("Total_Reward", 0, 0, 4049.0),
            ("Prey_Reward", 1, 1, 11.5),
            ("Total_Reward", 1, 1, 113.0),
        ],
    ),
    "how long a batch took, and samples a second and device": (
        "".join(
            f"2026-11-20,10:00:{k:02d} | INFO | Train Epoch: 0 [{k * 64:>5}/6400 ({k}%)] Data (t): 0.012 "
            f"Batch (t): 0.31{k}, 205.1/s, 205.1/s/gpu LR: 0.0005 Loss: 2.{k} (2.5)\n"
            for k in (1, 2, 3)
        ),
        [
            row
            for k in (1, 2, 3)
            for row in (
                ("Data (t)", 64 * k, 0.0, 0.012),
                ("Batch (t)", 64 * k, 0.0, 0.31 + k / 1000),
                ("LR", 64 * k, 0.0, 0.0005),
                ("Loss", 64 * k, 0.0, 2 + k / 10),
            )
        ],
    ),
    "progress bar: the last refresh of a step": (
        "\r".join([bar(37, 37, 100, "loss=0.52, v_num=3"), bar(37, 37, 100, "loss=0.51, v_num=3")])
        + "\r"
        + bar(38, 38, 100, "loss=nan, v_num=3"),
        [("loss", 37, None, 0.51), ("loss", 38, None, NAN)],
    ),
    "bars that end each number in a fraction, NaN as well": (
        bar(10, 10, 100, "train_loss=2.310")
        + "\r"
        + bar(20, 20, 100, "train_loss=nan.0")
        + "\r"
        + bar(30, 30, 100, "train_loss=inf.0"),
        [("train_loss", 10, None, 2.31), ("train_loss", 20, None, NAN), ("train_loss", 30, None, math.inf)],
    ),
    "names in brackets before their numbers; of these only results and positions": (
        "[R0] | [Step] 10 | [Loss] 0.5 | [best] 3\n[R0] | [Step] 20 | [Loss] nan | [best] 3\n"
        "[R0] | [Step] 30 | [Loss] 0.25 | [best] 4",
        [("Loss", 10, None, 0.5), ("Loss", 20, None, NAN), ("Loss", 30, None, 0.25)],
    ),
    "progress bars one after another go on counting": (
        "\n".join(bar(50 * k, 50 * k, 100, f"loss={v}") for k, v in ((1, 0.4), (2, 0.3), (1, 0.2), (2, 0.1))),
        [("loss", 50, None, 0.4), ("loss", 100, None, 0.3), ("loss", 150, None, 0.2), ("loss", 200, None, 0.1)],
    ),
    "bars with the epoch in front": (
        bar(100, 938, 938, "v_num=0, train_loss=0.5", "Epoch 0: ")
        + "\n"
        + bar(50, 469, 938, "v_num=0, train_loss=0.4", "Epoch 1: "),
        [("train_loss", 938, 0, 0.5), ("train_loss", 1407, 1, 0.4)],
    ),
    "a bar over validation data is another metric at the last training step": (
        bar(100, 100, 100, "loss=0.5", "Epoch 1: ") + "\n" + bar(100, 20, 20, "loss=0.6", "Validation: "),
        [("loss", 100, 1, 0.5), ("Validation loss", 100, None, 0.6)],
    ),
    "dict lines with epochs, totals left out": (
        "{'loss': 0.69, 'grad_norm': nan, 'learning_rate': 1.8e-08, 'epoch': 0.5}\n"
        "{'loss': 0.6, 'grad_norm': 0.81, 'learning_rate': 1e-08, 'epoch': 1.0}\n"
        "{'eval_loss': 0.5, 'eval_runtime': 3.1, 'epoch': 1.0}\n"
        "{'train_runtime': 12.0, 'train_samples_per_second': 8.1, 'train_loss': 0.64, 'epoch': 1.0}",
        [
            ("loss", 0, 0.5, 0.69),
            ("grad_norm", 0, 0.5, NAN),
            ("learning_rate", 0, 0.5, 1.8e-08),
            ("loss", 1, 1.0, 0.6),
            ("grad_norm", 1, 1.0, 0.81),
            ("learning_rate", 1, 1.0, 1e-08),
            ("eval_loss", 1, 1.0, 0.5),
            ("eval_runtime", 1, 1.0, 3.1),
        ],
    ),
    "dict lines whose numbers are text": ("{'loss': '0.5', 'epoch': '1.5'}", [("loss", 0, 1.5, 0.5)]),
    "JSON fragments": (
        '{"step": 10, "loss": 1.5, "acc": 0.5}\n{"step": 20, "loss": NaN, "acc": -Infinity}',
        [("loss", 10, None, 1.5), ("acc", 10, None, 0.5), ("loss", 20, None, NAN), ("acc", 20, None, -math.inf)],
    ),
    "a NaN with blanks before the next name": (
        "step 1 loss: nan grad_norm: 2.5\nstep 2 loss: nan grads: inf",
        [
            ("loss", 1, None, NAN),
            ("grad_norm", 1, None, 2.5),
            ("loss", 2, None, NAN),
            ("grads", 2, None, math.inf),
        ],
    ),
    "a NaN with blanks alone": (
        "step 1 loss 0.5 grad_norm 2.5\nstep 2 loss nan grad_norm nan",
        [("loss", 1, None, 0.5), ("grad_norm", 1, None, 2.5), ("loss", 2, None, NAN), ("grad_norm", 2, None, NAN)],
    ),
    "pipes with long names": (
        MEGATRON,
        [
            ("consumed samples", 100, None, 3200.0),
            ("elapsed time per iteration (ms)", 100, None, 345.1),
            ("learning rate", 100, None, 1.5e-4),
            ("lm loss", 100, None, 7.1),
            ("loss scale", 100, None, 65536.0),
            ("grad norm", 100, None, NAN),
            ("number of skipped iterations", 100, None, 0.0),
            ("number of nan iterations", 100, None, 2.0),
        ],
    ),
    "lists of results: of all epochs again, of classes, or that go on": (
        "Epoch 1: loss 0.5\nEpoch 2: loss 0.4\nEpoch 3: loss 0.3\n"
        "{'loss': [0.5, 0.4, 0.3], 'val_loss': [0.6, 0.5, 0.4]}\n{'loss': [0.5, 0.4], 'accuracy': [0.8, 0.9]}\n"
        "losses = [np.float64(0.5), np.float64(0.4), np.float64(0.3)]\n{'loss': [0.5,",
        [("loss", 1, 1.0, 0.5), ("loss", 2, 2.0, 0.4), ("loss", 3, 3.0, 0.3)],
    ),
    "lists of classes: the first": (
        "".join(f"Epoch {k}: IoU [0.{k} 0.2 0.3]\n" for k in (1, 2, 3)),
        [("IoU", k, k, k / 10) for k in (1, 2, 3)],
    ),
    "lists of a loss and its metric, of one entry, and brackets that are no lists": (
        "Epoch 1 loss [0.5 (0.9)] acc: [0.7]\nEpoch 2 loss [0.4 (0.8)] acc: [0.8]\n"
        "Epoch 3 loss [0.3 (0.7)] acc: [0.9]\nTest loss: [0.35, 0.9]",
        [
            *((name, k, float(k), 0.6 + sign * k / 10) for k in (1, 2, 3) for name, sign in (("loss", -1), ("acc", 1))),
            ("Test loss", 3, None, 0.35),
        ],
    ),
    "lines without an epoch belong to the one before, as does what comes at the end": (
        "initial loss: 9\n"
        + "".join(f"Epoch {e} | Train Loss: {9 - e}\n\t Val. Loss: {8 - e}\n" for e in (1, 2, 3))
        + "Test accuracy: 0.5",
        [
            ("initial loss", 0, None, 9.0),
            *(
                (name, e, own, y - e)
                for e in (1, 2, 3)
                for name, own, y in (("Train Loss", e, 9.0), ("Val. Loss", None, 8.0))
            ),
            ("Test accuracy", 3, None, 0.5),
        ],
    ),
    "lines without an epoch that are more than the epochs have a count of their own": (
        "".join(f"loss: {k}.5\nloss: {k}.25\nEpoch {k}: val_loss {k}\n" for k in (1, 2, 3)),
        [
            row
            for k in (1, 2, 3)
            for row in (
                ("loss", 2 * k - 2, None, k + 0.5),
                ("loss", 2 * k - 1, None, k + 0.25),
                ("val_loss", 2 * k - 1, k, k),
            )
        ],
    ),
    "a count of correct answers is a share of its total": (
        "".join(f"Epoch {k}\nAccuracy on evaluation data: {90 + k} / 200\n" for k in (1, 2, 3)),
        [("evaluation Accuracy", k, k, (90 + k) / 200) for k in (1, 2, 3)],
    ),
    "hits behind their percentage are no counter": (
        "".join(
            f"Epoch: {k}/5\nheld-out accuracy: {n / 25:.1f}%, ({n}/2500)\n"
            for k, n in ((1, 1111), (2, 1377), (3, 1402))
        ),
        [("held-out accuracy", k, k, 100 * n / 2500) for k, n in ((1, 1111), (2, 1377), (3, 1402))],
    ),
    "a pair that contradicts the percentage changes no value": (
        "".join(f"epoch {k} acc: 8{k}.5% ({k}/50)\n" for k in (1, 2, 3)),
        [("acc", k, k, 80.5 + k) for k in (1, 2, 3)],
    ),
    "correct ones are an accuracy": (
        "".join(f"epoch {k} | loss 0.{k} | correct {400 + k}/640 = {(400 + k) / 6.4:.0f}%\n" for k in (1, 2, 3)),
        [
            row
            for k in (1, 2, 3)
            for row in (("loss", k, k, k / 10), ("correct (accuracy)", k, k, 100 * (400 + k) / 640))
        ],
    ),
    "seconds at the end of a line are its time": (
        "".join(f"Epoch {k} - loss: 0.{k} - 1{k}.5s\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("loss", k, k, k / 10), ("time", k, k, 10.5 + k))],
    ),
    "each pass over held-out data alone is one evaluation": (
        "".join(
            f"=> checkpoint {c}\n" + "".join(f"Test: [{b}/30] Loss {c}.{b} ({c}.5{b})\n" for b in (0, 10, 20))
            for c in (1, 2)
        ),
        [("Test Loss", 0, None, 1.520), ("Test Loss", 1, None, 2.520)],
    ),
    "a count behind an epoch may be of correct answers": (
        "".join(f"Epoch {k}: {n} / 10000\n" for k, n in enumerate((8123, 9010, 9307, 9288))),
        [("accuracy", k, k, n / 10000) for k, n in enumerate((8123, 9010, 9307, 9288))],
    ),
    "per cent of data are an accuracy": (
        "".join(f"epoch {k} ce=0.{k} train=5{k}.5% test=4{k}.5%\n" for k in (1, 2, 3)),
        [
            row
            for k in (1, 2, 3)
            for row in (("ce", k, k, k / 10), ("train accuracy", k, k, 50.5 + k), ("test accuracy", k, k, 40.5 + k))
        ],
    ),
    "per cent of data alone may be a progress": (
        "".join(f"epoch {k} loss 0.{k}\nValidation: {k}0%\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("loss", k, k, k / 10), ("Validation", k, None, 10.0 * k))],
    ),
    "Caffe names the data before the output": (
        "".join(f"Iteration {k}00, loss = 0.{k}\n    Test net output #0: accuracy = 0.9{k}\n" for k in (1, 2, 3)),
        [
            row
            for k in (1, 2, 3)
            for row in (("loss", 100 * k, None, k / 10), ("Test accuracy", 100 * k, None, 0.9 + k / 100))
        ],
    ),
    "results behind a mark of a prompt": (
        "".join(f"iter: {k} / 9, total loss: 0.{k}\n >>> loss_cls: 0.0{k}\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("total loss", k, None, k / 10), ("loss_cls", k, None, k / 100))],
    ),
    "a result named after a generation is no position": (
        "".join(f"step {k}: loss_G_generation: 0.{k}, loss_D: 0.0{k}\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("loss_G_generation", k, None, k / 10), ("loss_D", k, None, k / 100))],
    ),
    "the unit of a rate is no word of the next name": (
        "".join(f"epoch {k}: 12.5 Hz objective: 0.{k}\n" for k in (1, 2, 3)),
        [("objective", k, k, k / 10) for k in (1, 2, 3)],
    ),
    "the return of an episode": (
        "".join(f"step:{k}0 episode:{k} R:{k}.5\n" for k in (1, 2, 3)),
        [("R (reward)", 10 * k, None, k + 0.5) for k in (1, 2, 3)],
    ),
    "names before the position, values behind it": (
        "".join(f"Cost after iteration {k}00: 0.{k}\n" for k in (1, 2, 3)),
        [("Cost", 100 * k, None, k / 10) for k in (1, 2, 3)],
    ),
    "names before the epoch; the best one's is none": (
        "".join(
            f"Mean IoU in epoch {k} is 0.{k}\nBest val loss at epoch 1: 0.5\nAfter epoch {k}: loss 0.{k}\n"
            for k in (1, 2, 3)
        ),
        [
            row
            for k in (1, 2, 3)
            for row in (("Mean IoU", k, k, k / 10), ("Best val loss", k, None, 0.5), ("loss", k, k, k / 10))
        ],
    ),
    "rounds, and rates with a blank before their unit": (
        "".join(f"Round {k}: speed: 9{k}.5 samples/sec accuracy=0.{k}\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("speed", k, None, 90.5 + k), ("accuracy", k, None, k / 10))],
    ),
    "CatBoost": (
        "".join(
            f"{k}:\tlearn: 0.{k}\ttest: 0.{k + 1}\tbest: 0.{k + 1} ({k})\ttotal: 5{k}ms\tremaining: 4.{k}s\n"
            for k in (1, 2, 3)
        ),
        [row for k in (1, 2, 3) for row in (("learn", k, None, k / 10), ("test", k, None, (k + 1) / 10))],
    ),
    "darknet": (
        "".join(
            f" {k}: {v}, {v} avg loss, 0.001000 rate, 3.{k} seconds, {64 * k} images\nLoaded: 0.000033 seconds\n"
            for k, v in ((1, "9.5"), (2, "8.5"), (3, "-nan"))
        ),
        [
            row
            for k, v in ((1, 9.5), (2, 8.5), (3, NAN))
            for row in (("loss", k, None, v), ("avg loss", k, None, v), ("lr", k, None, 0.001))
        ],
    ),
    "Marian": (
        "".join(
            f"[2024-05-01 10:00:0{k}] Ep. 1 : Up. {k}00 : Sen. 64{k} : Cost 9.{k} : 12.5 words/s\n" for k in (1, 2, 3)
        ),
        [row for k in (1, 2, 3) for row in (("Sen", 100 * k, 1.0, 640.0 + k), ("Cost", 100 * k, 1.0, 9 + k / 10))],
    ),
    "Chinese": (
        "".join(f"第 {k} 轮 训练损失：0.{k}，验证准确率: 0.{9 - k}\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("训练损失", k, k, k / 10), ("验证准确率", k, k, (9 - k) / 10))],
    ),
    "German": (
        "".join(f"Epoche {k}/3 - Verlust: 0.{k} - Genauigkeit: 0.{9 - k}\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("Verlust", k, k, k / 10), ("Genauigkeit", k, k, (9 - k) / 10))],
    ),
    "tables between commas": (
        "a, b and c\nEpoch,Train Loss,Val Loss,Epoch Time\n1,0.5,0.6,21m 18s\nBest model saved\n2,0.4,nan,21m 21s",
        [
            (name, k, k, v)
            for k, both in ((1, (0.5, 0.6)), (2, (0.4, NAN)))
            for name, v in zip(("Train_Loss", "Val_Loss"), both, strict=True)
        ],
    ),
    "steps before a colon are no ranks": (
        "".join(f"{k}: loss=0.{k // 100}\n" for k in (100, 200, 300, 400, 500)),
        [("loss", k, None, k / 1000) for k in (100, 200, 300, 400, 500)],
    ),
    "a few steps before a colon, set further in than so few ranks": (
        "".join(f"   {k}: loss 0.{k}\n" for k in (1, 2, 3)),
        [("loss", k, None, k / 10) for k in (1, 2, 3)],
    ),
    "ranks before a colon, set flush: the first": (
        "".join(f"{k:2d}: step {n} loss 0.{n}\n" for n in (1, 2) for k in (3, 11)),
        [("loss", n, None, n / 10) for n in (1, 2)],
    ),
    "ranks before a colon, one line each: the first": (
        "".join(f"{k}: step 10 loss=0.{k}\n" for k in (0, 1, 2, 3)),
        [("loss", 10, None, 0.0)],
    ),
    "darknet, as it was first": (
        "".join(f"{k}: 9.{k}, 8.{k} avg, 0.001 rate, 3.1 seconds, 64 images\n" for k in range(1, 18)),
        [
            row
            for k in range(1, 18)
            for row in (
                ("loss", k, None, float(f"9.{k}")),
                ("avg loss", k, None, float(f"8.{k}")),
                ("lr", k, None, 0.001),
            )
        ],
    ),
    "Flax's writer and GANs: a step at the head": (
        "".join(f"I0501 10:00:01.123456 140 logging_writer.py:48] [{k}] train_loss=0.{k}\n" for k in (1, 2, 3))
        + "".join(f"{k} [D loss: 0.{k}, acc.: 50.00%] [G loss: 1.{k}]\n" for k in (4, 5, 6)),
        [
            *(("train_loss", k, None, k / 10) for k in (1, 2, 3)),
            *(
                row
                for k in (4, 5, 6)
                for row in (("D loss", k, None, k / 10), ("acc", k, None, 50.0), ("G loss", k, None, 1 + k / 10))
            ),
        ],
    ),
    "what NCCL says of its channels is no metric": (
        "".join(f"n00{k}:45{k}:9 [{k}] NCCL INFO Channel 0{k}/0 : {k}[{k}] -> 3[4]\n" for k in range(8)),
        [],
    ),
    "losses of a step in a bar, and Tacotron, that print the step where the value is looked for": (
        "".join(
            f"Steps:  {k}0%|██▌   | {k}00/400 [00:10<01:00,  1.2it/s, lr=1e-5, step_loss=0.{k}]\n"
            f"Train loss {k}00 0.{k}5 Grad Norm 1.5 1.2s/it\nValidation loss {k}00: 0.{k}7\n"
            for k in (1, 2, 3)
        ),
        [
            row
            for k in (1, 2, 3)
            for row in (
                ("lr", 100 * k, None, 1e-5),
                ("step_loss", 100 * k, None, k / 10),
                ("Train loss", 100 * k, None, k / 10 + 0.05),
                ("Grad Norm", 100 * k, None, 1.5),
                ("Validation loss", 100 * k, None, k / 10 + 0.07),
            )
        ],
    ),
    "arrays of JAX, and names that stand in a sentence": (
        "".join(f"The loss of epoch {k} is 0.{k}\n{{'acc': Array(0.{k}, dtype=float32)}}\n" for k in (1, 2, 3)),
        [row for k in (1, 2, 3) for row in (("loss", k, k, k / 10), ("acc", k, None, k / 10))],
    ),
    "lists: the first entry": (
        "\n".join(
            f"[2023-01-01 00:00:{s},000] [INFO] [logging.py:96:log_dist] [Rank 0] step={s}, skipped=0, "
            f"lr=[{s}e-6, 1e-6], mom=[(0.9, 0.95), (0.9, 0.95)]"
            for s in (10, 20, 30)
        ),
        [
            (name, s, None, value)
            for s in (10, 20, 30)
            for name, value in (("skipped", 0.0), ("lr", s * 1e-6), ("mom", 0.9))
        ],
    ),
    "key and value without separator": (
        "step 0: train loss 4.2, val loss 4.3\niter 0: loss 4.21, time 123.3ms, mfu -100.00%\n"
        "iter 10: loss inf, time 12.3ms, mfu 1.2%\niter 20: loss 3.2, time 12.4ms, mfu 1.3%\n"
        "step 500: train loss 1.9, val loss 2.0",
        [
            ("train loss", 0, None, 4.2),
            ("val loss", 0, None, 4.3),
            ("loss", 0, None, 4.21),
            ("time", 0, None, 123.3),
            ("mfu", 0, None, -100.0),
            ("loss", 10, None, math.inf),
            ("time", 10, None, 12.3),
            ("mfu", 10, None, 1.2),
            ("loss", 20, None, 3.2),
            ("time", 20, None, 12.4),
            ("mfu", 20, None, 1.3),
            ("train loss", 500, None, 1.9),
            ("val loss", 500, None, 2.0),
        ],
    ),
    "step of total between pipes": (
        "\n".join(
            f"step {s}/1000 | train loss {4 - s} | norm 1.2 | lr 3e-4 | (25.1 ms | 4096 tok/s)" for s in (1, 2, 3)
        ),
        [
            (name, s, None, value)
            for s in (1, 2, 3)
            for name, value in (("train loss", 4.0 - s), ("norm", 1.2), ("lr", 3e-4), ("tok/s", 4096.0))
        ],
    ),
    "short names": (
        "s:0 tel:11.0\ns:0 trl:10.9 lr:0.001 norm:15.3\ns:1 trl:10.8 lr:0.001 norm:nan\n"
        "s:2 trl:10.7 lr:0.001 norm:0.3\ns:2 tel:10.6\ns:3 tel:10.5",
        [
            ("tel", 0, None, 11.0),
            ("trl", 0, None, 10.9),
            ("lr", 0, None, 0.001),
            ("norm", 0, None, 15.3),
            ("trl", 1, None, 10.8),
            ("lr", 1, None, 0.001),
            ("norm", 1, None, NAN),
            ("trl", 2, None, 10.7),
            ("lr", 2, None, 0.001),
            ("norm", 2, None, 0.3),
            ("tel", 2, None, 10.6),
            ("tel", 3, None, 10.5),
        ],
    ),
    "Keras bars: the epoch's last": (
        f"Epoch 1/2\n{KERAS_1}\r{KERAS_2}\r{KERAS_3}\nEpoch 2/2\n{KERAS_NEW}\n"
        "50/50 [==============================] - 1s 2ms/step - loss: 9.0 - accuracy: 0.1",
        [
            ("loss", 1, 1, 0.8),
            ("accuracy", 1, 1, 0.6),
            ("val_loss", 1, 1, NAN),
            ("accuracy", 2, 2, 0.7),
            ("loss", 2, 2, 0.5),
            ("val_loss", 2, 2, 0.4),
        ],
    ),
    "two blanks between pairs, clocks and units": (
        "[09/10 12:00:00 d2.utils.events]:  eta: 0:01:00  iter: 19  total_loss: 2.1  loss_cls: nan  "
        "time: 1.5  lr: 1.9e-05  max_mem: 3000M",
        [
            ("total_loss", 19, None, 2.1),
            ("loss_cls", 19, None, NAN),
            ("time", 19, None, 1.5),
            ("lr", 19, None, 1.9e-5),
            ("max_mem", 19, None, 3000.0),
        ],
    ),
    "value and running average": (
        "Epoch: [0][10/391]\tTime 0.210 (0.300)\tLoss 6.9e+00 (7.0e+00)\tAcc@1 0.39 (0.20)\n"
        "Epoch: [0][20/391]\tTime 0.210 (0.300)\tLoss 6.8e+00 (7.0e+00)\tAcc@1 0.40 (0.20)\n"
        "Test: [ 0/79]\tTime 0.9 (0.9)\tLoss 6.0 (6.00)\tAcc@1 1.0 (1.0)\n"
        "Test: [10/79]\tTime 0.9 (0.9)\tLoss 6.1 (6.05)\tAcc@1 2.0 (1.5)\n"
        "Epoch: [1][10/391]\tTime 0.210 (0.300)\tLoss 5.9e+00 (7.0e+00)\tAcc@1 0.41 (0.20)",
        [
            ("Time", 10, 0, 0.21),
            ("Loss", 10, 0, 6.9),
            ("Acc@1", 10, 0, 0.39),
            ("Time", 20, 0, 0.21),
            ("Loss", 20, 0, 6.8),
            ("Acc@1", 20, 0, 0.4),
            ("Test Loss", 20, None, 6.05),
            ("Test Acc@1", 20, None, 1.5),
            ("Time", 401, 1, 0.21),
            ("Loss", 401, 1, 5.9),
            ("Acc@1", 401, 1, 0.41),
        ],
    ),
    "counter in samples, result as a fraction with its percentage": (
        "Train Epoch: 1 [640/60000 (1%)]\tLoss: 1.9\nTest set: Average loss: 0.0500, Accuracy: 9800/10000 (98%)",
        [("Loss", 640, 1, 1.9), ("Test Average loss", 640, None, 0.05), ("Test Accuracy", 640, None, 98.0)],
    ),
    "epoch and step of total": (
        "Epoch [1/5], Step [100/600], Loss: 0.5\nEpoch [1/5], Step [200/600], Loss: 0.4\n"
        "Epoch [2/5], Step [100/600], Loss: 0.3",
        [("Loss", 100, 1, 0.5), ("Loss", 200, 1, 0.4), ("Loss", 700, 2, 0.3)],
    ),
    "a global step beside the epoch goes on by itself": (
        "Epoch: 1 | Step: 500 | loss: 0.5\nEpoch: 2 | Step: 1000 | loss: 0.4",
        [("loss", 500, 1, 0.5), ("loss", 1000, 2, 0.4)],
    ),
    "several positions: the number of updates counts": (
        "2021-01-01 00:00:00 | INFO | train_inner | epoch 001:    100 / 1234 loss=10.2, ppl=890.1, num_updates=100\n"
        "2021-01-01 00:00:09 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 9.1 | num_updates 1234",
        [("loss", 100, 1, 10.2), ("ppl", 100, 1, 890.1), ("valid loss", 1234, 1, 9.1)],
    ),
    "only epochs": (
        "Epoch 1/3 - train_loss: 0.9 - val_loss: 0.8\nEpoch 2/3 - train_loss: 0.7 - val_loss: inf",
        [("train_loss", 1, 1, 0.9), ("val_loss", 1, 1, 0.8), ("train_loss", 2, 2, 0.7), ("val_loss", 2, 2, math.inf)],
    ),
    "the epoch in a line of its own": (
        "Epoch 1\nTrain Loss: 0.5 | Acc: 80.1%\nVal Loss: 0.6 | Acc: 70.1%\nEpoch 2\nTrain Loss: 0.4 | Acc: 81.1%",
        [
            ("Train Loss", 1, 1, 0.5),
            ("Acc", 1, 1, 80.1),
            ("Val Loss", 1, 1, 0.6),
            ("Val Acc", 1, 1, 70.1),
            ("Train Loss", 2, 2, 0.4),
            ("Acc", 2, 2, 81.1),
        ],
    ),
    "a sentence": (
        '-- "test accuracy 0.536\n-- "test accuracy 0.540',
        [("test accuracy", 0, None, 0.536), ("test accuracy", 1, None, 0.54)],
    ),
    "a sentence with the epoch behind": (
        "Validation loss: 0.3 at epoch 5\nValidation loss: 0.2 at epoch 6",
        [("Validation loss", 5, 5, 0.3), ("Validation loss", 6, 6, 0.2)],
    ),
    "a sentence that says NaN": (
        "step=7 loss=2.0\nLoss is nan, stopping training",
        [("loss", 7, None, 2.0), ("Loss", 7, None, NAN)],
    ),
    "a printed tensor": (
        "{'loss_a': tensor(nan, device='cuda:0', grad_fn=<DivBackward0>), 'loss_b': tensor(0.5, device='cuda:0')}",
        [("loss_a", 0, None, NAN), ("loss_b", 0, None, 0.5)],
    ),
    "block of rows with sections": (
        SB3,
        [
            ("rollout/ep_rew_mean", 4096, None, 22.1),
            ("time/fps", 4096, None, 1042.0),
            ("train/approx_kl", 4096, None, 0.0081),
            ("train/loss", 4096, None, NAN),
        ],
    ),
    "columns under a header, refreshed": (
        YOLO,
        [
            ("GPU_mem", 1, 1, 2.5),
            ("box_loss", 1, 1, 1.2),
            ("cls_loss", 1, 1, 2.3),
            ("P", 1, 1, 0.64),
            ("R", 1, 1, 0.53),
            ("mAP50", 1, 1, 0.605),
            ("mAP50-95", 1, 1, 0.446),
        ],
    ),
    "columns under a header and a ruler": (
        "  epoch    train_loss    valid_loss     dur\n-------  ------------  ------------  ------\n"
        "      1        0.6905        0.6875  0.0424\n      2        0.5905           nan  0.0411",
        [
            ("train_loss", 1, 1, 0.6905),
            ("valid_loss", 1, 1, 0.6875),
            ("train_loss", 2, 2, 0.5905),
            ("valid_loss", 2, 2, NAN),
        ],
    ),
    "average precision by threshold and size": (
        " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.312",
        [("AP@0.50-0.95_all_100", 0, None, 0.312)],
    ),
    "a loss of the value function": (
        "    Value function loss: 0.25\n         Surrogate loss: -0.0125",
        [("Value function loss", 0, None, 0.25), ("Surrogate loss", 0, None, -0.0125)],
    ),
    "episodes": (
        "Episode 10 | Reward: -12.5 | Loss: 0.9\nEpisode 20 | Reward: 13.5 | Loss: 0.8",
        [
            ("Episode", 10, None, 10.0),
            ("Reward", 10, None, -12.5),
            ("Loss", 10, None, 0.9),
            ("Episode", 20, None, 20.0),
            ("Reward", 20, None, 13.5),
            ("Loss", 20, None, 0.8),
        ],
    ),
    "the step at the beginning, before a bar": (
        "".join(f"{k}0 | loss 5.{k} | lr 4.90e-05 | 80.5ms | mfu 0.2%\n" for k in (8, 9))
        + "100 | loss 5.1 | lr 5.00e-05 | 80.5ms | mfu 0.3%",
        [
            row
            for k, loss, lr, mfu in ((80, 5.8, 4.9e-5, 0.2), (90, 5.9, 4.9e-5, 0.2), (100, 5.1, 5e-5, 0.3))
            for row in (("loss", k, None, loss), ("lr", k, None, lr), ("mfu", k, None, mfu))
        ],
    ),
    "a step and its total under one name": (
        "".join(f"Epoch {e}, step/total_step: {k}/30 50.00% Loss:{e}.{k}\n" for e in (4, 5) for k in (15, 30)),
        [("Loss", 15, 4, 4.15), ("Loss", 30, 4, 4.3), ("Loss", 45, 5, 5.15), ("Loss", 60, 5, 5.3)],
    ),
    "Kaldi's objective, at the last minibatch": (
        "".join(
            "LOG (nnet3-train:PrintStatsForThisPhase():nnet-training.cc:114) Average objective function for"
            f" '{name}' for minibatches {k}0-{k}9 is -2.{k} over 12800 frames.\n"
            for k in (1, 2)
            for name in ("output", "output-xent")
        ),
        [(f"{name} objective", 10 * k + 9, None, -2 - k / 10) for k in (1, 2) for name in ("output", "output-xent")],
    ),
    "sections of ESPnet": (
        "3epoch results: [train] iter_time=0.2, loss=15.5, optim0_lr0=4e-04, [valid] cer=nan, loss=9.5\n"
        "4epoch results: [train] iter_time=0.3, loss=14.5, optim0_lr0=3e-04, [valid] cer=nan, loss=8.5",
        [
            row
            for e, time, lr in ((3, 0.2, 4e-4), (4, 0.3, 3e-4))
            for row in (
                ("train iter_time", e, e, time),
                ("train loss", e, e, 18.5 - e),
                ("train optim0_lr0", e, e, lr),
                ("valid cer", e, e, NAN),
                ("valid loss", e, e, 12.5 - e),
            )
        ],
    ),
    "Julia's @show of calls": (
        "loss(x, y) = param(0.25)\naccuracy(m, x, label, 0.0:9) = 0.5\nloss(x, y) = 0.125 (tracked)",
        [("loss", 0, None, 0.25), ("accuracy", 0, None, 0.5), ("loss", 1, None, 0.125)],
    ),
    "a number within a name": (
        "".join(f"=====Epoch: {k}/9,top {n} acc: 0.{n}{k}=====\n" for k in (1, 2) for n in (1, 5)),
        [(f"top{n} acc", k, k, n / 10 + k / 100) for k in (1, 2) for n in (1, 5)],
    ),
    "steps that episodes took are no position": (
        "".join(f"Episode  {k}00\tAvg: -9.{k}\tBest: -8.{k}  Steps:  {9 - k}50\n" for k in (1, 2, 3)),
        [
            row
            for k in (1, 2, 3)
            for row in (
                ("Episode", 100 * k, None, 100 * k),
                ("Avg", 100 * k, None, -9 - k / 10),
                ("Best", 100 * k, None, -8 - k / 10),
                ("Steps", 100 * k, None, 950 - 100 * k),
            )
        ],
    ),
    "darknet: few lines, whose counter is no rank, and -nan": (
        "998: 41250.500000, 530.250000 avg, 0.001000 rate, 1.5 seconds, 3 images\n"
        "999: -nan, -nan avg, 0.001000 rate, 1.5 seconds, 6 images",
        [
            ("loss", 998, None, 41250.5),
            ("avg loss", 998, None, 530.25),
            ("lr", 998, None, 0.001),
            ("loss", 999, None, NAN),
            ("avg loss", 999, None, NAN),
            ("lr", 999, None, 0.001),
        ],
    ),
    "a record printed twice counts once": (
        "Epoch 1, loss 0.5\nEpoch 1, loss 0.5\nEpoch 2, loss 0.4\nEpoch 2, loss 0.4",
        [("loss", 1, 1, 0.5), ("loss", 2, 2, 0.4)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_shape(name: str) -> None:
    """Each way of printing gives exactly these metrics at these steps, in file order."""
    text, expected = CASES[name]

    assert plain(expected) == [(m, s, e, pytest.approx(v) if v != "nan" else v) for m, s, e, v in rows(text)]


NOTHING = {
    "namespace": "Namespace(lr=0.1, loss='ce', epochs=3, max_grad_norm=1.0)",
    "settings": '  learning_rate: 0.001\n  "loss_weight": 1.0,\nlabel_smoothing = 0.1\nbatch_size: 32\nepochs: 100\n',
    "packages": "Collecting torch==2.3.0\nRequirement already satisfied: accuracy==1.26.4 in /usr/lib (1.26.4)",
    "warning": "/home/a/b/loss_3/file.py:33: UserWarning: loss 3 is bad",
    "traceback": 'Traceback (most recent call last):\n  File "/a/b.py", line 3, in f\n    step=3; loss=0.5\n'
    "ValueError: at step 3: loss = 4",
    "traceback of a rank": '[rank1]: Traceback (most recent call last):\n[rank1]:   File "/a.py", line 3, in f\n'
    "[rank1]:     loss = 0.5\n[rank1]: ValueError: loss = 4",
    "doctest": ">>> print(results)\n    {'accuracy': 1.0}",
    "model summary": "  | Name | Type | Params\n0 | loss | CrossEntropyLoss | 0\n1.2 M     Trainable params",
    "parameters": "Trainable params: 4098 || all params: 4390276 || trainable%: 0.09",
    "settings table": "| lr | 0.001 |\n| epochs | 3 |\n| loss_weight | 3 |",
    "search": "Trial 3 finished with value: 0.6 and parameters: {'lookback': 20, 'lr': 5.9e-05, 'n_nodes': 70}",
    "service": '[GIN] 2025/06/24 - 16:58:58 | 200 |  8.28s |       127.0.0.1 | POST     "/v1/chat"',
    "collective": "Watchdog caught timeout: WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=980, Timeout(ms)=1800000)",
    "checkpoint": "saving model to runs/ckpt-epoch=1-val_loss=0.23.ckpt",
    "bar over files": "Map (num_proc=4):  50%|█████     | 50/100 [00:01<00:01, 3.1 examples/s]",
    "devices": "GPU 0: 75C, 300W, 40000MiB / 80000MiB on 10.0.0.1:8080, pid 1234, sha 3f786850e387",
    "source": "loss = 0.5 * self.weight\n    return loss, 3\nfor i in range(3): loss += 1",
    "trainer's settings": "  Num Epochs = 3\n  Gradient Accumulation steps = 4\n  Total optimization steps = 489",
}


@pytest.mark.parametrize("name", NOTHING)
def test_no_junk(name: str) -> None:
    """Numbers that are not results give nothing, however often they are printed."""
    text = NOTHING[name]

    assert rows("\n".join([text] * 4)) == []


def test_a_foreign_line_inside_a_traceback() -> None:
    """A line of another rank, or without a prefix, inside a traceback is read; the traceback is not."""
    trace = [
        "Traceback (most recent call last):",
        '  File "/a.py", line 3, in f',
        "    loss = 0.5",
        "ValueError: loss = 4",
    ]
    for prefix in ("", "[rank1]: "):
        for at in range(len(trace) + 1):
            lines = [prefix + line for line in trace]
            text = "\n".join(["step 1 loss 0.5", *lines[:at], "step 2 loss 0.25", *lines[at:], "step 3 loss 0.125"])

            assert [(m, s, v) for m, s, _, v in rows(text)] == [("loss", s, 2.0**-s) for s in (1, 2, 3)], (prefix, at)


def test_schema_lines_and_time() -> None:
    """The frame has the schema of `points`; line, session and time are those of the number's own line."""
    lines = frame(SB3, session=3).with_columns(time=pl.lit(1_700_000_000_000_000).cast(Time))
    found = parse(lines)

    assert found.schema == SCHEMAS["points"]
    assert found["line"].to_list() == [3, 5, 9, 10]
    assert found["session"].unique().to_list() == [3]
    assert found["time"].null_count() == 0
    assert parse(lines.clear()).schema == SCHEMAS["points"]


def test_sessions_are_independent() -> None:
    """A session's steps do not depend on those before it."""
    text = "Epoch 3: 50/100 loss=0.5\nEpoch 4: 50/100 loss=0.4\nvalid loss 0.3"
    both = parse(pl.concat([frame(text, 0), frame(text, 1)]))

    assert both["step"].to_list() == [50, 150, 150] * 2


def test_frozen_and_missing_values_stay() -> None:
    """A loss of exactly 0 and a loss that is NaN at each step are points, not gaps."""
    text = "\n".join(f"step {i} loss 0.0 grad_norm nan" for i in range(5))

    assert rows(text) == [r for i in range(5) for r in (("loss", i, None, 0.0), ("grad_norm", i, None, "nan"))]


NUMBERS = st.one_of(st.floats(width=32), st.integers(-(10**6), 10**6))
NAMES = st.text("bcdghjkqwxyz", min_size=3, max_size=8)  # no vowels: no word for a position or a setting


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    values=st.lists(st.lists(NUMBERS, min_size=4, max_size=4), min_size=3, max_size=6),
    separator=st.sampled_from(["=", ": ", " = ", ":"]),
    between=st.sampled_from([", ", " ", " | ", "  ", "; "]),
)
def test_round_trip(names: list[str], values: list[list[float]], separator: str, between: str) -> None:
    """Pairs printed next to a step and a loss come back exactly."""
    names = ["loss", *(n for n in names if n != "loss")]
    text = "\n".join(
        between.join([f"step{separator}{i}", *(f"{n}{separator}{v!r}" for n, v in zip(names, record, strict=False))])
        for i, record in enumerate(values)
    )
    expected = [(n, i, None, float(v)) for i, record in enumerate(values) for n, v in zip(names, record, strict=False)]

    assert rows(text) == plain(expected)


WORDS = ["loss", "epoch", "step", "val", "Test:", "Epoch 3/4", "Epoch loss acc", "Traceback (most recent call last):"]
PARTS = [
    "=",
    ":",
    " ",
    "|",
    "/",
    "%",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
    ",",
    "\t",
    "█",
    "━",
    "\x00",
    "\x02",
    "\r",
    "\n",
]
VALUES = ["߃", "nan", "-inf", "1e5", "0.5", "99999999999999999999", "1:02:03", "| a | 1 |", "\n1 2 3\n", "[====>..]"]
PIECES = st.sampled_from([*WORDS, *PARTS, *VALUES, "100%|███| 3/4 [00:01<00:02, loss=1]"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
def test_any_text_is_read(text: str) -> None:
    """For any text, the result is a table of points on its lines."""
    found = parse(frame(text))

    assert found.schema == SCHEMAS["points"]
    assert found["step"].null_count() == 0
    assert found["line"].is_between(1, text.count("\n") + 1).all()


def test_one_damaged_line_does_not_renumber_the_others() -> None:
    """One step that seems to go back within a bar of thirty, which go on with each epoch."""
    lines = [f"train: epoch={i} step={10 * i} loss={1 / (1 + i):.4f}" for i in range(30)]
    lines[18] = "INFOpoch 2:  5%|##   | 1/20 [00:0 " + lines[18]
    steps = parse(frame("\n".join(lines) + "\n"))["step"].to_list()

    assert [steps[i] for i in range(30) if i != 18] == [10 * i for i in range(30) if i != 18]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real logs is not here")
def test_real_runs() -> None:
    """In each recorded run that is a printed log, every metric that its label names is read."""
    with (CORPUS / "runs/labels.csv").open() as file:
        labels = [r for r in csv.DictReader(file) if r["format"] == "stdout-log"]
    positions = {"epoch", "s"}
    for label in labels:
        found = parse(frame((CORPUS / "runs" / label["read_first"]).read_text()))

        assert set(label["metrics"].split(";")) - positions == set(found["metric"].unique())
        assert (label["label"] == "nan_loss") == bool(found["value"].is_nan().any())


def test_ranks_that_print_the_same_losses_count_once() -> None:
    """Each has its own speed. Losses that differ are those of different ranks, and all count."""
    line = (
        "[titan] root - INFO - step: {}  loss:  {:.5f}  grad_norm: 26.6250  memory: 66.91GiB  tps: 10,0{}  mfu: 13.99%"
    )
    same = "\n".join(line.format(step, 8 - step / 7, 50 + rank) for step in range(1, 5) for rank in range(7))
    other = "\n".join(
        line.format(step, 8 - step / 7 + rank / 9, 50 + rank) for step in range(1, 5) for rank in range(7)
    )

    assert len([r for r in rows(same) if r[0] == "loss"]) == 4
    assert len([r for r in rows(other) if r[0] == "loss"]) == 28


def test_nodes_that_print_the_same_line_count_once() -> None:
    """Pdsh names the node before each line. Of lines that differ all count."""
    losses = [1.8673, 0.7744, 0.6309, 0.5621]
    same = "\n".join(f"10.96.202.{n}: {{'loss': {x}, 'epoch': 0.0}}" for x in losses for n in (43, 17, 16))
    other = "\n".join(f"10.96.202.{n}: {{'loss': {x + n / 100}, 'epoch': 0.0}}" for x in losses for n in (43, 17, 16))

    assert [r[3] for r in rows(same) if r[0] == "loss"] == losses
    assert len([r for r in rows(other) if r[0] == "loss"]) == 12
