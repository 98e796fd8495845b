"""The console output of a program, put together from the `output_raw` records of its run file."""

from contextlib import ExitStack
from pathlib import Path

from loganalyst.opening import temporary
from loganalyst.sources.wandb import proto

NAME = "output.log"  # W&B's name for this text


class Console:
    """Collects the output in a temporary file, since it may not fit into memory. Without output there is no file."""

    def __init__(self) -> None:
        self._stack = ExitStack()  # closed with this object
        self._folder: Path | None = None

    def add(self, data: bytes, at: int, end: int) -> None:
        """Append one OutputRawRecord. Raises ValueError or IndexError if it cannot be decoded, and OSError."""
        pieces = [data[a:b] for a, b in proto.spans(data, at, end, proto.OUTPUT_LINE)]
        self._folder = self._folder or self._stack.enter_context(temporary())
        with Path(self._folder, NAME).open("ab") as file:
            file.writelines(pieces)

    @property
    def text(self) -> Path | None:
        """The file, which exists as long as this object; None without output."""
        return Path(self._folder, NAME) if self._folder else None
