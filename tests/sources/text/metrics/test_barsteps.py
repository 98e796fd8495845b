"""Lines that tell a part of an epoch, printed over a progress bar: which steps they are."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.sources.ingest import ingest
from loganalyst.sources.text.metrics.barsteps import Pace

BAR = "\r {:2}%|##   | {}/{} [00:01<00:20, 31.6it/s]"


def trainer(steps: int, total: int, an_epoch: int, *, every: int = 10, late: int = 2, bars: bool = True) -> str:
    """What the Trainer of transformers prints: a bar that lags `late` steps behind, and lines over it; an evaluation
    with a bar of its own after each epoch.
    """
    out = ["***** Running training *****"]
    drawn = BAR.format(0, 0, total)
    for step in range(1, steps + 1):
        line = ""
        if step % every == 0:
            line = f"{{'loss': {9 / step:.4f}, 'learning_rate': 0.001, 'epoch': {round(step / an_epoch, 2)}}}"
        if step % an_epoch == 0:
            evaluated = BAR.format(100, 25, 25) + "\x1b[A\n\r" + " " * 38 + "\r\x1b[A" if bars else ""
            line += "\n" * bool(line) + evaluated + f"{{'eval_loss': {8 / step:.4f}, 'epoch': {step // an_epoch}}}"
        if line:
            shown = BAR.format(100 * (step - late) // total, max(step - late, 0), total)
            out.append((drawn + shown + "\r" + " " * 40 + "\r" if bars else "") + line)
            drawn = BAR.format(100 * step // total, step, total)
    return "\n".join(out) + "\n"


def steps_of(tmp_path: Path, text: str) -> dict[str, list[int]]:
    (tmp_path / "train.log").write_text(text)
    points = ingest(tmp_path / "train.log").points
    return {m: points.filter(pl.col("metric") == m)["step"].to_list() for m in ("loss", "eval_loss")}


def test_steps_are_those_of_the_bar(tmp_path: Path) -> None:
    """Each line has its own step, and each evaluation the last step of its epoch."""
    found = steps_of(tmp_path, trainer(375, 375, 125))

    assert found == {"loss": list(range(10, 371, 10)), "eval_loss": [125, 250, 375]}


def test_a_run_that_ended_early(tmp_path: Path) -> None:
    """At 60 of 375 steps no epoch is over."""
    assert steps_of(tmp_path, trainer(60, 375, 125))["loss"] == [10, 20, 30, 40, 50, 60]


def test_without_a_bar_lines_are_counted(tmp_path: Path) -> None:
    """Where the bar went to another file, the steps are unknown."""
    assert steps_of(tmp_path, trainer(60, 375, 125, bars=False))["loss"] == [0, 1, 2, 3, 4, 5]


def test_lines_with_a_step_keep_it(tmp_path: Path) -> None:
    """A bar over them, of another loop, does not matter."""
    text = "".join(f"{BAR.format(9, i, 70)}\rstep {5 * i} epoch {i / 8} loss {9 / i:.3f}\n" for i in range(1, 9))

    assert steps_of(tmp_path, text)["loss"] == [5 * i for i in range(1, 9)]


def test_whole_epochs_stay_epochs(tmp_path: Path) -> None:
    """One bar per epoch, and a line at the end of each."""
    text = "".join(f"{BAR.format(100, 391, 391)}\rEpoch {i}: loss {9 / i:.3f}\n" for i in range(1, 9))

    assert steps_of(tmp_path, text)["loss"] == list(range(1, 9))


@pytest.mark.parametrize(
    ("pace", "steps"),
    [
        (Pace(375, 2.88, 361), 125),
        (Pace(240, 79.67, 237), 3),
        (Pace(7500, 0.4, 48), 125),  # the bar is late: 120 by itself
        (Pace(7500, 0.08, 9), 112.5),  # too little to tell
        (Pace(100, 0.5, 62), 124),  # ends before an epoch is over
        (Pace(313, 2.5, 313), 125.2),  # two and a half epochs
    ],
)
def test_steps_an_epoch(pace: Pace, steps: float) -> None:
    """A divisor of the total where one is close, else the bar's pace."""
    assert pace.steps() == pytest.approx(steps)
