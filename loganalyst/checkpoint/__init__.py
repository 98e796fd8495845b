"""Forensics of checkpoints without the user's code: read safely, look at every number, say what is wrong."""

from itertools import pairwise
from pathlib import Path

from loganalyst.checkpoint import changes, findings, layouts, whole
from loganalyst.errors import SourceError
from loganalyst.model import Inspection

__all__ = ["inspect"]


def inspect(*paths: str | Path) -> Inspection:
    """Look at checkpoints: safetensors (shards too), files of torch.save and Lightning, folders of HF Trainer.

    Two or more are also compared, each with the one before. Nothing of a file is run and none is written to; tensors
    are read in blocks, so a checkpoint may be far larger than memory. Raises SourceError for what cannot be read
    safely; torch files need the extra `replay`.
    """
    if not paths:
        raise SourceError("inspect", "no checkpoint is named", layouts.KNOWN)
    read = [layouts.read(Path(path)) for path in paths]
    scans = tuple(map(whole.scanned, read))
    between = tuple(changes.between(old, new) for old, new in pairwise(read))
    return Inspection(scans, between, findings.found(scans, between))
