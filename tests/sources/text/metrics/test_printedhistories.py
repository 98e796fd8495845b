"""Histories that a program prints as whole lists."""

from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose
from loganalyst.sources.text.metrics.printedhistories import found

LOSS = [2.0, 1.5, 1.25, 1.125, 1.0625, 1.0]
ACC = [0.25, 0.5, 0.625, 0.75, 0.8125, 0.875]


def histories(folder: Path, lines: list[str], read: dict[str, int] | None = None) -> dict[str, list[tuple[int, float]]]:
    log = folder / "job.log"
    log.write_text("\n".join(lines) + "\n")
    points = found(log, 0, 1, len(lines), read or {})
    return {m: points.filter(metric=m).select("step", "value").rows() for m in points["metric"].unique().to_list()}


def counted(values: list[float]) -> list[tuple[int, float]]:
    return list(enumerate(values, 1))


@pytest.mark.parametrize(
    "line",
    [
        str({"loss": LOSS, "accuracy": ACC}),
        f"history: {{'loss': {LOSS}, 'accuracy': {ACC}}}",
        f"loss = {LOSS} accuracy => {ACC}",
        f"loss: [{', '.join(f'tensor({x}, grad_fn=<DivBackward0>)' for x in LOSS)}], accuracy: {ACC}",
        f"loss: [{', '.join(f'np.float64({x})' for x in LOSS)}], accuracy: {ACC}",
    ],
)
def test_lists_of_one_length_are_the_history(tmp_path: Path, line: str) -> None:
    assert histories(tmp_path, ["Using cuda", line, "done"]) == {"loss": counted(LOSS), "accuracy": counted(ACC)}


def test_a_list_that_grows_is_read_once(tmp_path: Path) -> None:
    lines = [f"accs:  {ACC[:k]}" for k in range(1, 7)]

    assert histories(tmp_path, lines) == {"accs": counted(ACC)}


@pytest.mark.parametrize(
    "lines",
    [
        [f"IoU: {ACC}"],  # by class
        [f"IoU: {ACC}", f"IoU: {ACC[::-1]}", f"loss: {LOSS[:3]}"],
        [f"anchors: {LOSS}", f"loss weights: {LOSS}"],  # settings
        [f"loss: {LOSS[:4]}"],  # too few
        ["loss: [1, 2, a, 4, 5, 6.5, 7.5]"],
    ],
)
def test_other_lists_are_no_history(tmp_path: Path, lines: list[str]) -> None:
    assert histories(tmp_path, lines) == {}


def test_a_history_that_was_read_before_is_left_out(tmp_path: Path) -> None:
    line = f"train_losses: {LOSS}, accuracy: {ACC}"

    assert histories(tmp_path, [line], {"Train loss": 6}) == {"accuracy": counted(ACC)}


def test_a_history_is_judged(tmp_path: Path) -> None:
    values = [2.0 * 0.9**k + 0.5 for k in range(30)]
    (tmp_path / "job.log").write_text(
        f"Using TensorFlow backend.\n{ {'loss': values, 'val_loss': [x + 0.1 for x in values]} }\n"
    )

    result = diagnose(tmp_path / "job.log")

    assert {m.name: m.role for m in result.metrics} == {"loss": "train_loss", "val_loss": "val_loss"}
    assert result.run.points.height == 60
