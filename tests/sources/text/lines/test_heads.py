"""The message of a line behind progress bars and the heads of loggers and containers."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.model import Tables
from loganalyst.sources.text import reader as text
from loganalyst.sources.text.lines.heads import without_bars, without_head

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


HEADS = [
    "2024-05-01 10:00:02,123 - ERROR - {}",
    "2024-05-01 10:00:02,123 ERROR train.py:33 {}",
    "[2024-05-01 10:00:02] [ERROR] [train.py:33] {}",
    "[2024-05-01 10:00:02,123][__main__][ERROR] - {}",
    "2024-05-01 10:00:02.123 | ERROR    | __main__:main:33 - {}",
    "05/01/2024 10:00:02 - ERROR - __main__ - {}",
    "E0501 10:00:02.123456 1234 train.py:33] {}",
    "ERROR: {}",
    "ERROR:root:{}",
    "CRITICAL {}",
    "2024-05-01T10:00:02.123456789Z {}",
    "2024-05-01T10:00:02.123456789Z stderr F {}",
    "[10:00:02] {}",
    "trainer_1  | {}",
    "[stderr] {}",
    "    {}",
]

TAGS = ["{}\r", "\x1b[31m{}\x1b[0m", "[1,0]<stderr>:{}", "[1,mpirank:0,algo-1]<stderr>:{}"]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("end", ENDS)
def test_the_head_before_a_message_is_removed(head: str, end: str) -> None:
    assert without_head(pl.Series([head.format(end)])).to_list() == [end]


@pytest.mark.parametrize("line", ["2024-05-01 10:00:02 WARNING Killed", "INFO: Killed", "ERRORS 3", "loss | 0.5"])
def test_other_levels_than_errors_stay(line: str) -> None:
    assert without_head(pl.Series([line])).item().endswith(line.removeprefix("2024-05-01 10:00:02 "))


@pytest.mark.parametrize("head", [*HEADS, *TAGS, "#033[34m{}#033[0m", "Nov  2 10:00:00 gpu07 python3[4242]: {}"])
def test_a_pattern_claims_a_message_behind_a_head(head: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("\n".join(["start", "loading", head.format("zsh: killed     python train.py"), ""]), newline="")
    rows = Tables.concat(text.read(log)).lines

    assert rows.filter(pl.col("line") == 3)["pattern"].to_list() == ["shell-killed"]


@pytest.mark.parametrize("end", ["{}", "{}\r", "\x1b[31m{}\x1b[0m"])
def test_last_words_are_read_however_the_line_ends(end: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"start\n{end.format('ERROR quux: lost contact with node n17')}\n", newline="")
    rows = Tables.concat(text.read(log)).lines

    assert rows.filter(pl.col("label") == "node_failure")["pattern"].to_list() == ["wording-node"]


@pytest.mark.parametrize(
    ("head", "node"),
    [
        ("Nov  2 10:00:00 gpu-a.example.org train.sh[4242]: {}", "gpu-a.example.org"),
        ("Nov 20 10:00:00 gpu07 python3: {}", "gpu07"),
        ("#033[34m{}#033[0m", None),
        ("#033[34m[1,mpirank:3,algo-1]<stdout>:{}#033[0m", None),
    ],
)
def test_the_head_of_a_gathered_log_is_no_metric(head: str, node: str | None, tmp_path: Path) -> None:
    """Heads of syslog and journalctl, and colours as CloudWatch writes them; the host is the node."""
    log = tmp_path / "train.log"
    said = [*(f"step {i} loss {2 / (i + 1):.4f} lr 0.001" for i in range(30)), "ValueError: bad shape"]
    log.write_text("\n".join([*map(head.format, said), ""]))
    run = pipeline.diagnose(log).run

    assert run.points["metric"].unique().sort().to_list() == ["loss", "lr"]
    assert run.points.height == 60
    assert run.lines.filter(pattern="python-exception")["node"].to_list() == [node]


def test_ranks_of_mpirun_are_separated(tmp_path: Path) -> None:
    """Two ranks whose lines are mixed: one fails, the other waits for it."""
    log, frame = tmp_path / "train.log", '  File "/home/me/train.py", line 3, in main'
    tags = [f"[1,{rank}]<stderr>:" for rank in (0, 1)]
    said = [*(f"[1,0]<stdout>:step {i} loss {2 / (i + 1):.4f}" for i in range(30)),
            f"{tags[1]}Traceback (most recent call last):", f"{tags[0]}waiting", f"{tags[1]}{frame}",
            f"{tags[1]}ValueError: bad shape"]  # fmt: skip
    log.write_text("\n".join([*said, ""]))
    found = pipeline.diagnose(log)

    assert (found.causes[0].id, found.causes[0].line, found.causes[0].rank) == ("code-exception", 34, 1)
    assert found.run.points.height == 30


@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("end", ENDS)
def test_the_bar_before_a_message_is_removed(bar: str, end: str) -> None:
    assert without_bars(pl.Series([BARS[bar] + end, end, "step 3/4 done"])).to_list() == [end, end, "step 3/4 done"]


@pytest.mark.parametrize("bar", BARS)
def test_a_bar_alone_stays(bar: str) -> None:
    assert without_bars(pl.Series([BARS[bar]])).to_list() == [BARS[bar]]


@given(st.lists(st.text(alphabet="0/9[]<>=━ -.:%|its lossKilled\n", max_size=60)))
def test_no_line_is_lost_or_made_longer(lines: list[str]) -> None:
    text = pl.Series(lines, dtype=pl.String)
    assert all(line.endswith(rest) for line, rest in zip(lines, without_bars(text), strict=True))


@pytest.mark.parametrize("bar", ["tqdm", "keras"])
@pytest.mark.parametrize("end", ENDS)
def test_the_cause_is_found_behind_a_bar(bar: str, end: str, tmp_path: Path) -> None:
    """The shell, the scheduler and the interpreter write at the cursor that the bar left."""
    steps = (BARS[bar].replace("39/100", f"{i}/100").replace("0.0500", f"{2 / (i + 1):.4f}") for i in range(1, 40))
    refreshes = "".join(f"\r{step}" for step in steps)
    log = tmp_path / "train.log"
    log.write_text(f"starting\n{refreshes}{end}\n")
    found = pipeline.diagnose(log)

    assert found.causes[0].id == ENDS[end]
    assert found.status == "diagnosis_complete"
