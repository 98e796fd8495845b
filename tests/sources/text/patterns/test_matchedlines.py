"""Lines that patterns and tracebacks claim."""

from pathlib import Path

import numpy as np
import polars as pl

from loganalyst.sources.text import reader
from loganalyst.sources.text.lines import warninglines
from loganalyst.sources.text.patterns.catalogue import catalogue
from loganalyst.sources.text.patterns.matchedlines import MAX_MATCHES_PER_END, Hits


def test_matches_of_a_pattern_are_kept_from_either_end_of_a_session() -> None:
    """Each pattern and session has its own limit; a few are all kept."""
    n = 4 * MAX_MATCHES_PER_END
    row, zero = np.arange(n), np.zeros(n, np.int64)
    hits = Hits(row, row + 1, row % 2, zero, np.full(n, "{}", object), zero)
    kept, lost = hits.thinned(zero)
    more, none = hits.thinned((row >= n // 2).astype(np.int64))

    assert (len(kept), len(lost)) == (n, 0)
    assert (len(more), len(none)) == (n, 0)
    every = Hits(row, row, zero, zero, hits.captures, zero)
    kept, lost = every.thinned(zero)
    assert kept.row.tolist() == [*range(MAX_MATCHES_PER_END), *range(n - MAX_MATCHES_PER_END, n)]
    assert lost.row.tolist() == list(range(MAX_MATCHES_PER_END, n - MAX_MATCHES_PER_END))


def _parts(tmp_path: Path, text: str) -> list[tuple[int, str, str]]:
    log = tmp_path / "train.log"
    log.write_text(text)
    lines = pl.concat(tables.lines for tables in reader.read(log))
    return list(lines.filter(pl.col("label").is_not_null()).select("line", "pattern", "part").iter_rows())


def test_what_a_warning_mentions_is_no_fault(tmp_path: Path) -> None:
    """Warnings of Python and of a logger, and the source line below one; the same words as an exception are one."""
    words = "CUDA out of memory. Tried to allocate 2.00 GiB"
    text = (
        f"/env/a.py:7: UserWarning: {words}\n  fallback('{words}')\n"
        f"2024-05-01 10:00:02,123 - train - WARNING - {words}\n0%| | 0/9 [00:00<?, ?it/s]a.py:7: UserWarning: {words}\n"
        f"RuntimeError: {words}\n"
    )

    assert _parts(tmp_path, text) == [
        (1, "cuda-oom", "advice"), (2, "cuda-oom", "advice"), (3, "cuda-oom", "advice"), (4, "cuda-oom", "advice"),
        (5, "cuda-oom", "root"),
    ]  # fmt: skip


def test_a_pattern_of_warnings_keeps_its_part(tmp_path: Path) -> None:
    """Ray and torchrun report a death at this level, as the examples of these patterns show."""
    text = (
        "2021-09-05 13:40:52,522 WARNING worker.py:1215 -- A worker died or was killed while executing a task\n"
        "WARNING:torch.distributed.elastic.agent.server.api:Received 2 death signal, shutting down workers\n"
    )
    assert _parts(tmp_path, text) == [(1, "ray-actor-died", "confirm"), (2, "keyboard-interrupt", "root")]


def test_a_warning_raised_as_an_exception_is_a_fault(tmp_path: Path) -> None:
    """Its line names the exception of a traceback, though it may look like a record."""
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n'
        "UserWarning: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    )
    assert _parts(tmp_path, text) == [(4, "cuda-oom", "root")]


def test_no_fault_is_recognised_by_a_warning_of_python() -> None:
    """Such an example would make its pattern a fault whenever Python warns so."""
    faults = [
        pattern for pattern in catalogue() if pattern.part in ("aside", "root", "stop", "peer", "cascade", "confirm")
    ]
    lines = pl.Series([line for pattern in faults for line in pattern.match])
    assert not warninglines.of_python(lines).any()
