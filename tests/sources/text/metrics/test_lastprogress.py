"""How far a job log had come: its last step and epoch, rank by rank, and the totals it prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.metrics import lastprogress


def progress(folder: Path, log: str | bytes) -> list[dict[str, Any]]:
    """Line, rank and numbers of each rank's last words."""
    path = folder / "train.log"
    path.write_bytes(log if isinstance(log, bytes) else log.encode())
    rows = Tables.concat(reader.read(path)).lines.filter(pattern="last-step")
    numbers = [{k: int(v) for k, v in json.loads(said).items() if v is not None} for said in rows["captures"]]
    return [{"line": n, "rank": r, **said} for n, r, said in zip(rows["line"], rows["rank"], numbers, strict=True)]


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("step 5/400 loss 2.0", {"step": 5, "steps": 400}),
        ("iteration     120/     500 | lm loss: 2.0", {"step": 120, "steps": 500}),
        ("[INFO] Step: 7 of 90, loss=2.0", {"step": 7, "steps": 90}),
        ("it     20/4000 | loss 2.0", {"step": 20, "steps": 4000}),
        ("upd 20 of 4000: loss 2.0 at 3.1 it/s", {"step": 20, "steps": 4000}),
        ("step 5 | loss 2.0 | 3.1 it/s", {"step": 5}),
        ("Epoch 3/10", {"epoch": 3, "epochs": 10}),
        ("Epoch [3/10], Step [50/400], Loss: 2.0", {"step": 50, "steps": 400, "epoch": 3, "epochs": 10}),
        ("Processing epoch 3:   1%|▏         | 5/400 [00:02<03:17,  2.00it/s]", {"step": 5, "steps": 400}),
        ("  1%|▏         | 5/400 [00:02<03:17,  2.00it/s, loss=2.0]", {"step": 5, "steps": 400}),
        ("step 12 loss 2.0", {"step": 12}),
        ("Fit: [ 3/10][50/400] loss 2.0", {"step": 50, "steps": 400, "epoch": 3, "epochs": 10}),
        (
            " 9%|▉   | 90/1000 [01:02<9:20, 6.2s/it]slurmstepd: error: *** JOB 7 CANCELLED ***",
            {"step": 90, "steps": 1000},
        ),
    ],
)
def test_totals_of_a_line(tmp_path: Path, last: str, said: dict[str, int]) -> None:
    """Steps, epochs and bars, as programs print them."""
    assert progress(tmp_path, f"hello\n{last}\n") == [{"line": 2, "rank": None, **said}]


@pytest.mark.parametrize(
    "line",
    [
        "Loading checkpoint shards: 100%|██████████| 2/2 [00:02<00:00]",
        "Packing train dataset:  60%|██████    | 3000/5000 [00:30<00:10, 98.1it/s]",
        "Applying chat template:  60%|██████    | 3000/5000 [00:30<00:10, 98.1it/s]",
        "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-05-01T12:00:00 ***",
        "ValueError: bad shard at step 30",
        "validation step 3/10",
        "no numbers here",
    ],
)
def test_other_progress_than_the_trainings_is_ignored(tmp_path: Path, line: str) -> None:
    """Other bars, other steps."""
    assert progress(tmp_path, f"step 5/400 loss 2.0\n{line}\n") == [{"line": 1, "rank": None, "step": 5, "steps": 400}]


def test_the_bar_with_the_largest_total_is_the_trainings(tmp_path: Path) -> None:
    """An evaluation at the end has a bar of its own."""
    log = " 50%|█████     | 500/1000 [00:02<03:17,  2.00it/s]\n" + "100%|██████████| 10/10 [00:00<00:00]\n"

    assert progress(tmp_path, log) == [{"line": 1, "rank": None, "step": 500, "steps": 1000}]


def test_each_rank_has_its_own(tmp_path: Path) -> None:
    """By the prefix of the line."""
    log = "".join(f"[rank{r}]: step {s} loss 2.0\n" for s in range(1, 9) for r in range(3) if not (r == 1 and s > 4))

    assert sorted((row["rank"], row["step"], row["line"]) for row in progress(tmp_path, log)) == [
        (0, 8, 19), (1, 4, 11), (2, 8, 20),
    ]  # fmt: skip


def test_only_the_last_start_counts(tmp_path: Path) -> None:
    """Steps before the last start are no progress of it."""
    start = "Namespace(lr=0.1, steps=9)\n"
    log = start + "step 5/400 loss 2.0\nstep 6/400 loss 2.0\nstep 7/400 loss 2.0\nCUDA error: out of memory\n" + start

    assert progress(tmp_path, log) == []


def test_only_the_end_is_read(tmp_path: Path) -> None:
    """With the right line numbers."""
    log = "step 1/400 loss 2.0\n" + "chatter\n" * (lastprogress.TAIL_BYTES // 8) + "step 2 loss 2.0\n"

    assert progress(tmp_path, log) == [{"line": lastprogress.TAIL_BYTES // 8 + 2, "rank": None, "step": 2}]


@pytest.mark.parametrize(
    "log", [b"", b"\x00" * 100, "step 5/400\n".encode("utf-16"), b"step 99999999999999999999/3\n", b"\xff/step 1/"]
)
def test_odd_bytes_do_no_harm(tmp_path: Path, log: bytes) -> None:
    """Nothing raises."""
    path = tmp_path / "x"
    path.write_bytes(log)

    assert lastprogress.last(path, 0, 1, 1).height <= 1
