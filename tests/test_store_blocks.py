"""Blocks go through the store as the other tables do."""

from functools import partial
from pathlib import Path

import pytest

from loganalyst import Store, read_run
from loganalyst.sources.assemble import run_id
from loganalyst.sources.text import reader
from loganalyst.sources.text.sizes import Sizes

HEAD = "[rank{0}]: Traceback (most recent call last):\n"
TRACE = HEAD + '[rank{0}]:   File "/a.py", line 3, in f\n[rank{0}]: ValueError: no {1}\n'


def test_a_log_that_grows_keeps_its_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read step by step into a store, the blocks are those of a fresh reading, with all ranks."""
    monkeypatch.setattr(reader, "resume", partial(reader.resume, sizes=Sizes(batch=400)))
    run, store = tmp_path / "run", Store(tmp_path / "store")
    run.mkdir()
    for part in range(4):
        with (run / "train.log").open("a") as log:
            log.write("".join(f"step {part * 20 + i} loss 0.5\n" for i in range(20)))
            log.write(TRACE.format(part, "shard") + TRACE.format(part, f"file {'abcd'[part]}"))
        store.ingest([run])
        kept, fresh = store.run(run_id(run)).blocks, read_run(run).blocks
        assert kept.equals(fresh)

    told = kept.select("message", "ranks", "repeated", "parent").sort("message").rows()
    assert told == [
        *((f"no file {c}", [i], 1, None) for i, c in enumerate("abcd")),
        ("no shard", [0, 1, 2, 3], 4, None),
    ]
    assert store.blocks.collect().height == 5
