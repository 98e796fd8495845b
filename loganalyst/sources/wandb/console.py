"""What a program printed, as its run's file holds it (`output_raw`): put together as the text that it was."""

import tempfile
from pathlib import Path

from loganalyst.sources.wandb import proto

NAME = "output.log"  # W&B's name of the text


class Console:
    """Collects the text in a temporary file, for it may be longer than memory; no file where nothing was printed."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def add(self, data: bytes, at: int, end: int) -> None:
        """Take in one OutputRawRecord. ValueError, IndexError where it cannot be decoded; OSError."""
        pieces = [data[a:b] for a, b in proto.spans(data, at, end, proto.OUTPUT_LINE)]
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="loganalyst-")
        with Path(self._folder.name, NAME).open("ab") as file:
            file.writelines(pieces)

    @property
    def text(self) -> Path | None:
        """The file, as long as this object lives."""
        return Path(self._folder.name, NAME) if self._folder else None
