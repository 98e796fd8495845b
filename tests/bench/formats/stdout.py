"""A job log with metrics printed in lines; the peer is the regular expression people write for their own format."""

import re
from collections.abc import Callable
from pathlib import Path

from formats.case import Case, Columns, Take, grow_lines, transposed, values


def write(folder: Path, rows: int, metrics: int) -> Path:
    path = folder / "train.log"
    with path.open("w") as file:
        for step in range(rows):
            items = " ".join(f"{k}={v:.6g}" for k, v in values(step, metrics).items())
            print(f"step {step}: {items}", file=file)
    return path


def regex() -> Take:
    line = re.compile(r"step (\d+): (.*)")
    item = re.compile(r"([\w/]+)=(\S+)")

    def take(path: Path) -> Callable[[], Columns]:
        rows = [(m[1], item.findall(m[2])) for m in map(line.search, path.read_text().splitlines()) if m]
        events = [(name, int(step), float(value)) for step, items in rows for name, value in items]
        return lambda: transposed(events)

    return take


CASES = (Case("stdout", write, (regex,), (200_000, 5), grow=grow_lines),)
