"""Whether a log ends in the middle of a line."""

from pathlib import Path

import polars as pl

from loganalyst.model import table

TAIL = 4096  # bytes of the last line that are looked at
SHOWN = 200  # characters of it that are kept
_DONE = (b"]", b"|", b"100%", b"\x1b[0m", b"\x1b[A")  # a progress bar needs no line end


def cut(path: Path, line: int, session: int) -> pl.DataFrame:
    """A row of `lines` (pattern `cut-line`, captures `bytes`: the size of the file) where the last line, of that number
    and session, has no end and is no progress bar; else none.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(size - TAIL, 0))
        tail = file.read(TAIL)
    last = tail[max(tail.rfind(b"\n"), tail.rfind(b"\r")) + 1 :]
    if not last.strip() or b"\0" in tail or last.rstrip().endswith(_DONE):
        return table("lines")
    return table("lines", {
        "session": session, "file": path.name, "line": line, "offset": size - len(last), "pattern": "cut-line",
        "part": "advice", "captures": f'{{"bytes":"{size}"}}', "text": last.decode("utf-8", "replace")[-SHOWN:],
    })  # fmt: skip
