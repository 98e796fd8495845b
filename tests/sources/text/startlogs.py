"""Logs of programs that start several times, for the tests of sessions."""

from pathlib import Path

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.sizes import SIZES, Sizes

STEPS = "".join(f"step {i} loss {2 - i / 64}\n" for i in range(40))
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    main()\nKeyError: 7\n'


def read(path: Path, data: str | bytes, sizes: Sizes = SIZES) -> Tables:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return Tables.concat(reader.read(path, sizes))


def started(tables: Tables) -> list[int]:
    return tables.sessions["first_line"].to_list()
