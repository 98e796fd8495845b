"""Which checkpoint a replay starts from: the last whole one before the fault."""

from dataclasses import dataclass
from pathlib import Path

from loganalyst.checkpoint import layouts, runcheckpoints
from loganalyst.errors import ReplayError, SourceError
from loganalyst.model import Diagnosis

MOST = 20  # checkpoints that are opened


@dataclass(frozen=True)
class Chosen:
    """A checkpoint with the step that its name or its state tells (no path: the training's own start); the `last` whole
    one of the run; `notes` on what was passed over, and why it is this one.
    """

    path: Path | None
    step: int | None
    last: Path | None = None
    notes: tuple[str, ...] = ()


def chosen(found: Diagnosis, onset: int | None, asked: Path | None) -> Chosen:
    """The checkpoint `asked` for, else the last whole one before the onset; of a run without any, its start. Raises
    ReplayError where the one asked for is not there, SourceError where it cannot be read.
    """
    # the last named step is tried first; what names none is told by its own state, and may be of any time
    listed = sorted(runcheckpoints.checkpoint_paths(found.run), key=lambda unit: unit[1] is not None)[-MOST:]
    if asked is not None:
        if not asked.exists():
            near = ", ".join(str(path) for path, _ in listed[-3:]) or "none"
            raise ReplayError(asked, "there is no such checkpoint", f"those of the run: {near}")
        named = next((step for path, step in listed if path.resolve() == asked.resolve()), None)
        return Chosen(asked, _told(asked, named), asked)
    notes: list[str] = []
    whole: list[tuple[Path, int | None]] = []
    for path, named in reversed(listed):
        try:
            step = _told(path, named)
        except SourceError as error:
            notes.append(f"{path.name} is passed over: it {error.what}")
            continue
        whole.append((path, step))
        if onset is None or (step is not None and step <= onset):
            return Chosen(path, step, whole[0][0], tuple(notes))
    why = "the run has no checkpoint that can be read"
    if whole and onset is not None:
        why = f"no checkpoint is known to be from before step {onset:,}, where the fault shows"
    return Chosen(None, 0, whole[0][0] if whole else None, (*notes, f"{why}: it is replayed from its start"))


def _told(path: Path, named: int | None) -> int | None:
    """The step of a checkpoint by its own state, else by its name."""
    step = layouts.read(path).step
    return named if step is None else step
