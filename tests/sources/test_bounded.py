"""Inputs that claim more than there is to read: sparse files, bombs, lines of megabytes. They are read to a limit, and
a run that was cut there is not said to have died.
"""

import gzip
import json
import os
from pathlib import Path

import polars as pl
import pytest

from loganalyst.checkpoint import layouts
from loganalyst.errors import SourceError
from loganalyst.model import UNREAD, Diagnosis
from loganalyst.pipeline import diagnose
from loganalyst.sources.files import compressed, sparse
from loganalyst.sources.text import reader
from loganalyst.sources.text.lines.chunks import MAX_ROW_BYTES
from loganalyst.sources.text.starts import MAX_SESSIONS

TB = 1 << 40
STEPS = "".join(f"step {i} loss {3 / (i + 1):.4f} lr 0.001\n" for i in range(500))
needs_holes = pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="no system call that tells holes")


def claims(path: Path, before: bytes = b"", after: bytes = b"") -> Path:
    """A file of a TB with these bytes at its ends."""
    with path.open("wb") as file:
        file.write(before)
        file.truncate(TB)
        file.seek(TB - len(after))
        file.write(after)
    if path.stat().st_blocks * 512 > TB // 2:
        pytest.skip("this file system has no sparse files")
    return path


def why(found: Diagnosis) -> str:
    return "; ".join(found.run.gaps["why"])


@needs_holes
@pytest.mark.parametrize("ends", [(STEPS.encode(), b""), (b"", STEPS.encode())])
def test_a_sparse_log_is_read_without_its_holes(tmp_path: Path, ends: tuple[bytes, bytes]) -> None:
    """Such as a log that was emptied while the program went on writing."""
    found = diagnose(claims(tmp_path / "train.log", *ends))

    assert found.run.points.filter(metric="loss").height == 500
    assert f"a sparse file: of {TB:,} bytes" in why(found)


@needs_holes
@pytest.mark.parametrize("name", ["events.out.tfevents.1.host.1.0", "a.wandb", "a.csv", "a.jsonl", "a.parquet", "a.gz"])
def test_a_file_that_is_one_hole_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="nothing could be read"):
        diagnose(claims(tmp_path / name))


@needs_holes
def test_a_sparse_checkpoint_is_refused(tmp_path: Path) -> None:
    """Its header may say that all these zeros are weights."""
    size = TB - 108
    header = json.dumps({"a": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode().ljust(100)
    path = claims(tmp_path / "model.safetensors", (100).to_bytes(8, "little") + header)

    with pytest.raises(SourceError, match="is a sparse file"):
        layouts.read(path)


def test_small_holes_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(STEPS)
    with sparse.solid(path) as (inner, left):
        assert inner == path
        assert left.height == 0


def test_a_log_cut_at_our_limit_is_no_dead_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says neither that it died nor that it is running."""
    monkeypatch.setattr(compressed, "_limit", lambda *_: 30)
    path = tmp_path / "run" / "metrics.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(b"step,loss\n" + b"".join(b"%d,1.5\n" % i for i in range(1000))))
    found = diagnose(path.parent)

    assert UNREAD in why(found)
    assert found.features.values["run_is_running"] is None
    assert "dead-run" not in {cause.id for cause in found.causes}
    assert found.run.points["value"].to_list() == [1.5] * 3  # and no half of a line


def test_the_middle_of_a_long_line_is_left_out(tmp_path: Path) -> None:
    """Both ends of the line and the lines around it are read."""
    path = tmp_path / "a.log"
    end = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    path.write_text(f"{STEPS}{'ä €' * MAX_ROW_BYTES} {end}\n{STEPS.replace('step ', 'step 9')}")
    batches = list(reader.read(path))
    points = sum(batch.points.height for batch in batches)
    told = [row for batch in batches for row in batch.gaps["why"]]

    assert points == 2000
    assert told == [f"the middle of line 501: of a line above {MAX_ROW_BYTES:,} bytes only both ends are read"]
    assert (501, "cuda_oom") in {row for batch in batches for row in batch.lines.select("line", "label").rows()}


@pytest.mark.parametrize("content", [b"\0\0\0\0", b"hello world\n" * 50, b"\n\n\n", b"one line"])
def test_a_run_without_signs_of_health_is_not_healthy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(content)

    assert diagnose(path).status == "insufficient_data"


def test_a_log_that_says_it_finished_is_healthy(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("hello world\n" * 50 + "Training finished.\n")

    assert diagnose(path).status == "healthy"


def test_starts_beyond_the_limit_are_counted_in_a_gap(tmp_path: Path) -> None:
    """The first MAX_SESSIONS starts of a log become sessions; later starts count to the last of these."""
    more = 5
    blocks = MAX_SESSIONS + more
    start = "[2024-01-01 00:00:00] Starting training run\nstep 1 loss 2.5\nstep 2 loss 2.4\nRuntimeError: CUDA error\n"
    log = tmp_path / "train.log"
    log.write_text(f"first line of the launcher\n{start}" * blocks)
    batches = list(reader.read(log))
    sessions = pl.concat([tables.sessions for tables in batches])
    assert sessions.height == MAX_SESSIONS
    assert sessions["last_line"].max() == 5 * blocks
    why = pl.concat([tables.gaps for tables in batches])["why"]
    assert (
        f"{more} more starts of the program count to the last session: a file has at most {MAX_SESSIONS:,} sessions"
        in why.to_list()
    )
    assert pl.concat([tables.points for tables in batches])["session"].max() == MAX_SESSIONS - 1
