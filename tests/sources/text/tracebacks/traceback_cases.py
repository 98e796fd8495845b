"""Tracebacks and logs for the tests of this folder."""

import traceback
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.sizes import SIZES, Sizes
from loganalyst.sources.text.tracebacks.printers import Printer, by_printer
from loganalyst.sources.text.tracebacks.traces import Traceback


def rows(*lines: str) -> list[Printer]:
    """Lines as `prefix|body`, or without a prefix, by printer."""
    parts = [line.partition("|") if "|" in line else ("", "", line) for line in lines]
    return by_printer(pl.DataFrame({"prefix": [p for p, _, _ in parts], "body": [b for _, _, b in parts]}))


def messages(found: list[Traceback]) -> list[tuple[str | None, str | None]]:
    return [(one.exception, one.message) for one in found]


def printed(error: BaseException) -> list[str]:
    return "".join(traceback.format_exception(error)).rstrip("\n").split("\n")


def raised(kind: type[Exception], text: str, cause: Exception | None = None, *, during: bool = False) -> Exception:
    """An exception with a real traceback, raised from `cause` or while handling it."""
    try:
        try:
            if cause:
                raise cause
        except Exception as first:
            raise kind(text) from (None if during is None else first if not during else first.__cause__)
        raise kind(text)
    except Exception as error:
        return error


FRAME = '  File "/a.py", line {}, in {}'


TABLE = """\
Traceback (most recent call last):
  File "/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-01-02_03:04:06
  host      : gpu7
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 61)  (SIGTERM)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 61
[2]:
  time      : 2026-01-02_03:04:07
  host      : gpu8
  rank      : 9 (local_rank: 1)
  exitcode  : -15 (pid: 62)  (SIGTERM)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 62
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-01-02_03:04:05
  host      : gpu8
  rank      : 8 (local_rank: 0)
  exitcode  : 1 (pid: 63)
  error_file: /tmp/e.json
  traceback : Traceback (most recent call last):
    File "/home/me/train.py", line 5, in main
      raise ValueError("boom")
  ValueError: boom

============================================================
"""


def blocks(path: Path, log: str, sizes: Sizes = SIZES) -> list[dict[str, Any]]:
    """The blocks of a log."""
    file = path / "a.log"
    file.write_text(log)
    return Tables.concat(reader.read(file, sizes)).blocks.to_dicts()


def values(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]
