"""A file of findings that survives a kill: each line is written completely or not at all."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from loganalyst.writing import is_stream, write_whole


class FindingsFile:
    """A file of findings, one per line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, lines: Sequence[str]) -> None:
        """Append all lines durably, or none. Cut off a partial line that a killed scan left. Raises OSError, and
        LogAnalystError for a device.
        """
        text = "".join(f"{line}\n" for line in lines)
        if is_stream(self.path):
            write_whole(self.path, text)
            return
        with self.path.open("ab", buffering=0) as file:
            end = _end_of_last_line(self.path)
            os.truncate(file.fileno(), end)
            try:
                left = memoryview(text.encode())
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except BaseException:
                os.truncate(file.fileno(), end)
                raise

    def written(self, ids: set[str]) -> set[str]:
        """The findings among `ids` that the file contains. Raises OSError."""
        found = set[str]()
        if self.path.exists() and not is_stream(self.path):
            with self.path.open("rb") as file:
                found = {id_ for line in file if line.endswith(b"\n") and (id_ := _id_in(line))}
        return found & ids


def _id_in(line: bytes) -> str | None:
    """The id of the finding in a line; None if it has none."""
    try:
        finding = json.loads(line)
    except ValueError:
        return None
    return str(finding["id"]) if isinstance(finding, dict) and "id" in finding else None


def _end_of_last_line(path: Path) -> int:
    """Number of bytes up to the end of the last complete line."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(end - (1 << 16), 0)
            file.seek(start)
            if (at := file.read(end - start).rfind(b"\n")) >= 0:
                return start + at + 1
            end = start
    return 0
