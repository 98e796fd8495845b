"""The checkpoints of a run to inspect: the last, one before it to compare with, and the last one without NaN."""

from pathlib import Path

from loganalyst import opening
from loganalyst.checkpoint import dcpmetadata, deepspeed, findings, layouts, tensorchanges, wholecheckpoint
from loganalyst.checkpoint.contents import Contents
from loganalyst.checkpoint.scanprogress import Steps, Watch
from loganalyst.errors import SourceError
from loganalyst.model import CheckpointScan, Inspection, InspectionFinding, Run

MAX_INSPECTED = 8  # checkpoints that are opened
FOLDER_MARKS = (*layouts.MODEL_FILES, dcpmetadata.NAME)  # files that mark a folder as one checkpoint


def inspect_run(run: Run, watch: Watch | None = None) -> Inspection | None:
    """Inspect from the last checkpoint back to the first finite one, at least two; the oldest comes first. Checkpoints
    that cannot be read become findings. None if the run has no checkpoint.
    """
    scans: list[CheckpointScan] = []
    read: list[Contents] = []
    unread: list[InspectionFinding] = []
    listed = checkpoint_paths(run)[-MAX_INSPECTED:]
    allowed = opening.bounds([run.path if run.path.is_dir() else run.path.parent])
    for done, (path, step) in enumerate(reversed(listed)):
        if watch:
            watch(done, len(listed))
        try:
            with opening.within(allowed):
                found = layouts.read(path)
            if not _is_earlier_state(found, step, read):
                continue
            scans.append(wholecheckpoint.scan_checkpoint(found, Steps(0)))
        except SourceError as error:
            unread.append(InspectionFinding("unreadable", "warning", path, f"cannot be read: it {error.what}"))
            continue
        read.append(found)
        if len(read) > 1 and not has_nonfinite(scans[-1]):
            break
    if not listed:
        return None
    scans.reverse()
    changes = (tensorchanges.compare(read[1], read[0], Steps(0)),) if len(read) > 1 else ()
    return Inspection(tuple(scans), changes, (*findings.find(scans, changes), *unread))


def has_nonfinite(scan: CheckpointScan) -> bool:
    """Whether a tensor of the model holds NaN or Inf."""
    return any(t.nonfinite for t in scan.tensors)


def _is_earlier_state(found: Contents, step: int | None, read: list[Contents]) -> bool:
    """Whether this is a model and, unless it is the first, the same model at an earlier step (a copy is not)."""
    found.step = step if found.step is None else found.step
    names = {t.name for t in found.tensors if t.floating}
    if not names or not read:
        return bool(names)
    last = read[-1]
    same = len(names & {t.name for t in last.tensors}) > len(names) / 2
    return same and found.step is not None and last.step is not None and found.step < last.step


def checkpoint_paths(run: Run) -> list[tuple[Path, int | None]]:
    """Checkpoints with the step in their name, by step; those without one follow by time. Files of one folder are one
    checkpoint.
    """
    rows = run.checkpoints.sort("step", "time", nulls_last=True).select("path", "step").iter_rows()
    return list(dict.fromkeys((_checkpoint_path(run.path, path), step) for path, step in rows))


def _checkpoint_path(run: Path, path: str) -> Path:
    """The file, or its folder if that is one checkpoint."""
    root = run if run.is_dir() else run.parent
    file = root / path
    marked = any((file.parent / name).is_file() for name in FOLDER_MARKS)
    is_folder = marked or any(file.parent.glob(deepspeed.MODEL_FILES))
    return file.parent if is_folder and file.parent != root else file
