"""The meaning of a line's numbers."""

import pytest

from loganalyst.sources.text.lines.numberwords import SLOT
from loganalyst.sources.text.metrics import lineshapes
from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame

LOSSES = [round(1 / i, 4) for i in range(1, 6)]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Epoch {e} loss tensor({x}, device='cuda:0', grad_fn=<NllLossBackward0>) val_loss {y}", ("loss", "val_loss")),
        ("2024-05-01 10:0{e}:00.123 | INFO     | __main__:train:88 - Epoch {e} | Loss {x} | Val Loss {y}",
         ("Loss", "Val Loss")),
        ("[gpu1] 2024-05-01 10:0{e}:00,123 (a:732) INFO: epoch {e}, loss={x}, val_loss={y}", ("loss", "val_loss")),
        ("📈 Epoch {e} ➜ loss={x} ✅ val_loss={y}", ("loss", "val_loss")),
        ("Epoch: 0{e}\n\tTrain Loss: {x}\n\t Val. Loss: {y}", ("Train Loss", "Val. Loss")),
        ("Train: {e} [ 100/200 ( 50%)]  Loss: {x} (9.9)\nTest: [ 10/10]  Loss: {y} ({y})", ("Loss", "Test Loss")),
    ],
)  # fmt: skip
def test_text_around_a_name_is_not_part_of_it(line: str, names: tuple[str, str]) -> None:
    """Arguments of a tensor, a logger's origin, arrows and pictures, abbreviations, timm's epoch."""
    text = "\n".join(line.format(e=i, x=x, y=x + 1) for i, x in enumerate(LOSSES, 1))
    found = parse(frame(text)).sort("line", maintain_order=True)

    assert set(found["metric"]) == set(names)
    assert found.filter(metric=names[0])["value"].to_list() == LOSSES
    assert found.filter(metric=names[1])["value"].to_list() == [x + 1 for x in LOSSES]


@pytest.mark.parametrize(
    ("shape", "slots"),
    [
        ("Loss after epoch #: #", [(0, "epoch", ""), (1, "metric", "Loss")]),
        ("Epoch #/# loss: # (#%)", [(0, "epoch", ""), (2, "metric", "loss")]),
        ("[#/#] loss: #", [(0, "batch", ""), (1, "total", ""), (2, "metric", "loss")]),
        ("[train] loss=# [valid] loss=#", [(0, "metric", "train loss"), (1, "metric", "valid loss")]),
        ("Accuracy: #/# (#%)", [(2, "metric", "Accuracy")]),
        ("step # # updates/sec ppl=#", [(0, "step", ""), (1, "metric", "updates/sec"), (2, "metric", "ppl")]),
        ("Val. Loss #: #", [(1, "metric", "Val. Loss")]),
        ("val batch #/# loss #", [(0, "batch", ""), (1, "total", ""), (2, "metric", "val loss")]),
        ("epoch # step # test batch size # loss #", [(0, "epoch", ""), (1, "step", ""), (3, "metric", "loss")]),
    ],
)
def test_positions_and_metrics_of_a_shape(shape: str, slots: list[tuple[int, str, str]]) -> None:
    """`#` is a number."""
    found = lineshapes.read(shape.replace("#", SLOT), 5)

    assert found is not None
    assert [(slot.index, slot.role, slot.name) for slot in found.slots] == slots


def test_a_rate_alone_on_its_line_is_a_setting_unless_it_is_printed_again() -> None:
    shape = f"Learning rate: {SLOT}"
    found = lineshapes.read(shape, 5)

    assert lineshapes.read(shape, 1) is None
    assert found is not None
    assert [(slot.role, slot.name) for slot in found.slots] == [("metric", "Learning rate")]


@pytest.mark.parametrize("shape", ["loss weight: #", "Loaded # files", "pid #"])
def test_shapes_without_a_meaning(shape: str) -> None:
    assert lineshapes.read(shape.replace("#", SLOT), 5) is None
