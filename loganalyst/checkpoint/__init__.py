"""Forensics of checkpoints without the user's code: read safely, look at every number, say what is wrong."""

from itertools import pairwise
from pathlib import Path

from loganalyst.checkpoint import findings, layouts, tensorchanges, wholecheckpoint
from loganalyst.checkpoint.scanprogress import Steps, Watch
from loganalyst.errors import SourceError
from loganalyst.model import Inspection

__all__ = ["inspect"]


def inspect(*paths: str | Path, spectra: bool = False, watch: Watch | None = None) -> Inspection:
    """Look at checkpoints: safetensors (shards too), files of torch.save and Lightning, folders of HF Trainer, of
    DeepSpeed and of torch.distributed.checkpoint (FSDP).

    Two or more are also compared, each with the one before. With `spectra` matrices get their spectral norm and
    effective rank, on a GPU where there is one. Nothing of a file is run and none is written to; tensors are read in
    blocks, so a checkpoint may be far larger than memory. `watch` is told how many tensors of how many are done. Raises
    SourceError for what cannot be read safely; torch files need the extra `replay`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import loganalyst as la, torch
    >>> from safetensors.torch import save_file
    >>> file = Path(tempfile.mkdtemp(), "model.safetensors")
    >>> save_file({"layer.weight": torch.full((2, 2), float("nan"))}, file)
    >>> la.inspect(file).findings[0].kind
    'nonfinite'
    """
    if not paths:
        raise SourceError("inspect", "no checkpoint is named", layouts.KNOWN)
    read = [layouts.read(Path(path)) for path in paths]
    steps = Steps(
        sum(wholecheckpoint.tensors(found, spectra=spectra) for found in read)
        + sum(sum(t.floating for t in old.tensors) for old in read[:-1]),
        watch,
    )
    scans = tuple(wholecheckpoint.scanned(found, steps, spectra=spectra) for found in read)
    between = tuple(tensorchanges.between(old, new, steps) for old, new in pairwise(read))
    return Inspection(scans, between, findings.found(scans, between))
