"""Sacred's `run.json`: how a run of its FileStorageObserver ended, and the traceback of a failure.

Next to it lie `metrics.json` (read by `curves_reader`), `config.json` and `cout.txt`, the captured output.
Source: sacred 0.8.7, `observers/file_storage.py`, `run.py`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables, table
from loganalyst.model.tabletext import printable
from loganalyst.opening import temporary, whole
from loganalyst.sources.files.embeddedtext import printed
from loganalyst.sources.files.flatten import config_table
from loganalyst.sources.files.lineblocks import gap, text
from loganalyst.sources.tables import stepcolumns
from loganalyst.sources.tables.jsonshape import parse_json

NAME = "sacred"

MAX_BYTES = 16 << 20
# a run that is RUNNING may have been killed
_STATUS = {"COMPLETED": "finished", "FAILED": "failed", "INTERRUPTED": "killed", "TIMED_OUT": "timeout"}
_FACTS = ("command", "result", "status")


def sniff(path: Path, head: bytes) -> float:
    """How surely it is one of these: named `run.json`, with the keys that Sacred writes.

    >>> sniff(Path("1/run.json"), b'{"experiment": {}, "heartbeat": null}')
    0.95
    """
    known = path.name == "run.json" and head.lstrip()[:1] == b"{"
    return 0.95 if known and b'"experiment"' in head and (b'"heartbeat"' in head or b'"fail_trace"' in head) else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The session, some facts as `config`, and the lines of the traceback. Raises OSError."""
    size = path.stat().st_size
    run = parse_json(text(whole(path))) if size <= MAX_BYTES else None
    if not isinstance(run, dict):
        yield Tables(gaps=gap(path, "not a JSON object of Sacred", 0, size))
        return
    facts = [(key, run[key]) for key in _FACTS if isinstance(run.get(key), str | int | float)]
    yield Tables(sessions=_session(path, run), config=config_table(facts, path.name, prefix="sacred."))
    trace = run.get("fail_trace")
    if isinstance(trace, list):
        with temporary() as folder:
            log = folder / path.name
            log.write_text("".join(map(printable, trace)), encoding="utf-8")
            yield from printed(log)


def _session(path: Path, run: Mapping[str, Any]) -> pl.DataFrame:
    stamps = pl.Series([run.get(key) if isinstance(run.get(key), str) else None for key in ("start_time", "stop_time")])
    started, ended = stepcolumns.times(stamps.cast(pl.String))
    return table("sessions", {
        "session": [0],
        "source": path.name,
        "started": [started],
        "ended": [ended],
        "status": _STATUS.get(str(run.get("status")), "unknown"),
    })  # fmt: skip
