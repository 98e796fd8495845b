"""The checkpoints of a run: the last one, one before it to compare it with, and the last one without NaN."""

from pathlib import Path

from loganalyst import opening
from loganalyst.checkpoint import dcpmetadata, deepspeed, findings, layouts, tensorchanges, wholecheckpoint
from loganalyst.checkpoint.contents import Contents
from loganalyst.checkpoint.scanprogress import Steps, Watch
from loganalyst.errors import SourceError
from loganalyst.model import CheckpointScan, Inspection, InspectionFinding, Run

MOST = 8  # checkpoints that are looked into
SIGNS = (*layouts.MODELS, dcpmetadata.NAME)  # of a folder that is one checkpoint


def look(run: Run, watch: Watch | None = None) -> Inspection | None:
    """From the last checkpoint back to the first that is finite, two at least; the oldest comes first. What cannot be
    read is told among the findings. None where the run has no checkpoint.
    """
    scans: list[CheckpointScan] = []
    read: list[Contents] = []
    unread: list[InspectionFinding] = []
    listed = units(run)[-MOST:]
    allowed = opening.bounds([run.path if run.path.is_dir() else run.path.parent])
    for done, (path, step) in enumerate(reversed(listed)):
        if watch:
            watch(done, len(listed))
        try:
            with opening.within(allowed):
                found = layouts.read(path)
            if not _earlier(found, step, read):
                continue
            scans.append(wholecheckpoint.scanned(found, Steps(0)))
        except SourceError as error:
            unread.append(InspectionFinding("unreadable", "warning", path, f"cannot be read: it {error.what}"))
            continue
        read.append(found)
        if len(read) > 1 and not nonfinite(scans[-1]):
            break
    if not listed:
        return None
    scans.reverse()
    between = (tensorchanges.between(read[1], read[0], Steps(0)),) if len(read) > 1 else ()
    return Inspection(tuple(scans), between, (*findings.found(scans, between), *unread))


def nonfinite(scan: CheckpointScan) -> bool:
    """Whether a tensor of the model holds NaN or Inf."""
    return any(t.nonfinite for t in scan.tensors)


def _earlier(found: Contents, step: int | None, read: list[Contents]) -> bool:
    """Whether it is a model, and if it is not the first, the same at an earlier step (a copy of the last is not)."""
    found.step = step if found.step is None else found.step
    names = {t.name for t in found.tensors if t.floating}
    if not names or not read:
        return bool(names)
    last = read[-1]
    same = len(names & {t.name for t in last.tensors}) > len(names) / 2
    return same and found.step is not None and last.step is not None and found.step < last.step


def units(run: Run) -> list[tuple[Path, int | None]]:
    """Checkpoints with the step that their name tells, in the order of their steps, those without one by their time
    after them; the files of a folder are one.
    """
    rows = run.checkpoints.sort("step", "time", nulls_last=True).select("path", "step").iter_rows()
    return list(dict.fromkeys((_unit(run.path, path), step) for path, step in rows))


def _unit(run: Path, path: str) -> Path:
    """The file, or its folder where that is one checkpoint."""
    root = run if run.is_dir() else run.parent
    file = root / path
    one = any((file.parent / name).is_file() for name in SIGNS) or any(file.parent.glob(deepspeed.MODELS))
    return file.parent if one and file.parent != root else file
