"""Words that are glued to a progress bar."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.sources.log.glued import behind

TQDM = "Epoch 1:  39%|███▉      | 39/100 [00:39<01:00,  1.20it/s, loss=0.0500]"
KERAS = "39/100 [=====>....] - ETA: 20s - loss: 0.0500 - accuracy: 0.39"
BARS = {
    "tqdm": TQDM,
    "without a total": "39it [00:39,  1.20it/s]",
    "a description behind": "39/100 [00:39<01:00,  1.20s/it]: ",
    "two": f"{TQDM}Epoch 2: {TQDM}",
    "keras": KERAS,
    "keras, an epoch's end": "100/100 [==============================] - 12s 3ms/step - loss: 1e-05 - val_loss: 0.2",
    "keras 3": "39/100 ━━━━━━━━━━━━━━━━━━━━ 20s 12ms/step - accuracy: 0.3900 - loss: 0.0500",
}
ENDS = {
    "Killed": "killed-from-outside",
    "Terminated": "killed-from-outside",
    "Aborted (core dumped)": "native-abort",
    "Segmentation fault (core dumped)": "segmentation-fault",
    "srun: error: n1: task 0: Killed": "killed-from-outside",
    "OSError: [Errno 28] No space left on device": "disk-full",
}


@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("end", ENDS)
def test_words_are_told_from_the_bar_before_them(bar: str, end: str) -> None:
    assert behind(pl.Series([BARS[bar] + end, end, "step 3/4 done"])).to_list() == [end, end, "step 3/4 done"]


@pytest.mark.parametrize("bar", BARS)
def test_a_bar_alone_stays(bar: str) -> None:
    assert behind(pl.Series([BARS[bar]])).to_list() == [BARS[bar]]


@given(st.lists(st.text(alphabet="0/9[]<>=━ -.:%|its lossKilled\n", max_size=60)))
def test_no_line_is_lost_or_made_longer(lines: list[str]) -> None:
    text = pl.Series(lines, dtype=pl.String)
    assert all(line.endswith(rest) for line, rest in zip(lines, behind(text), strict=True))


@pytest.mark.parametrize("bar", ["tqdm", "keras"])
@pytest.mark.parametrize("end", ENDS)
def test_the_cause_is_found_behind_a_bar(bar: str, end: str, tmp_path: Path) -> None:
    """The shell, the scheduler and the interpreter write where the bar left the cursor."""
    steps = (BARS[bar].replace("39/100", f"{i}/100").replace("0.0500", f"{2 / (i + 1):.4f}") for i in range(1, 40))
    refreshes = "".join(f"\r{step}" for step in steps)
    log = tmp_path / "train.log"
    log.write_text(f"starting\n{refreshes}{end}\n")
    found = pipeline.diagnose(log)

    assert found.causes[0].id == ENDS[end]
    assert found.status == "diagnosis_complete"
