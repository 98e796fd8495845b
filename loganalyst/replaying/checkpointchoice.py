"""The choice of the checkpoint that a replay starts from: the last intact one before the fault."""

from dataclasses import dataclass
from pathlib import Path

from loganalyst.checkpoint import layouts, runcheckpoints
from loganalyst.errors import ReplayError, SourceError
from loganalyst.model import Diagnosis

MAX_OPENED = 20  # checkpoints that are opened at most


@dataclass(frozen=True)
class Choice:
    """A checkpoint with its step by name or state; without a path, the training's own start. `last` is the last intact
    checkpoint of the run. `notes` name what was skipped and why this one was chosen.
    """

    path: Path | None
    step: int | None
    last: Path | None = None
    notes: tuple[str, ...] = ()


def choose(found: Diagnosis, onset: int | None, asked: Path | None) -> Choice:
    """The checkpoint that was `asked` for, else the last intact one before the onset, else the start of the run. Raises
    ReplayError if the one asked for does not exist, SourceError if it cannot be read.
    """
    # steps in names come first, the last of them tried first; other checkpoints may be of any time
    listed = sorted(runcheckpoints.checkpoint_paths(found.run), key=lambda unit: unit[1] is not None)[-MAX_OPENED:]
    if asked is not None:
        if not asked.exists():
            known = ", ".join(str(path) for path, _ in listed[-3:]) or "none"
            raise ReplayError(asked, "there is no such checkpoint", f"those of the run: {known}")
        named = next((step for path, step in listed if path.resolve() == asked.resolve()), None)
        return Choice(asked, _step(asked, named), asked)
    notes: list[str] = []
    intact: list[tuple[Path, int | None]] = []
    for path, named in reversed(listed):
        try:
            step = _step(path, named)
        except SourceError as error:
            notes.append(f"{path.name} is skipped: it {error.what}")
            continue
        intact.append((path, step))
        if onset is None or (step is not None and step <= onset):
            return Choice(path, step, intact[0][0], tuple(notes))
    why = "the run has no readable checkpoint"
    if intact and onset is not None:
        why = f"no checkpoint is known to precede step {onset:,}, where the fault shows"
    return Choice(None, 0, intact[0][0] if intact else None, (*notes, f"{why}: the replay begins at its start"))


def _step(path: Path, named: int | None) -> int | None:
    """The step in a checkpoint's state, else the one in its name."""
    step = layouts.read(path).step
    return named if step is None else step
