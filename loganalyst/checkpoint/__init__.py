"""Inspect checkpoints without the user's code: read them safely, look at every value, report what is wrong."""

from itertools import pairwise
from pathlib import Path

from loganalyst.checkpoint import findings, layouts, tensorchanges, wholecheckpoint
from loganalyst.checkpoint.scanprogress import Steps, Watch
from loganalyst.errors import SourceError
from loganalyst.model import Inspection

__all__ = ["inspect"]


def inspect(*paths: str | Path, spectra: bool = False, watch: Watch | None = None) -> Inspection:
    """Inspect checkpoints: safetensors (shards too), files of torch.save and Lightning, folders of HF Trainer, of
    DeepSpeed and of torch.distributed.checkpoint (FSDP).

    Each checkpoint after the first is also compared with the one before it. With `spectra`, each matrix gets its
    spectral norm and effective rank; a GPU is used if there is one. No code of a file runs, and no file is written to.
    Tensors are read in blocks, so a checkpoint may be far larger than memory. `watch` receives the numbers of tensors
    done and in total. Raises SourceError if a file cannot be read safely; torch files need the extra `replay`.


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
        raise SourceError("inspect", "no checkpoint is named", layouts.READABLE)
    contents = [layouts.read(Path(path)) for path in paths]
    steps = Steps(
        sum(wholecheckpoint.tensor_count(found, spectra=spectra) for found in contents)
        + sum(sum(t.floating for t in old.tensors) for old in contents[:-1]),
        watch,
    )
    scans = tuple(wholecheckpoint.scan_checkpoint(found, steps, spectra=spectra) for found in contents)
    changes = tuple(tensorchanges.compare(old, new, steps) for old, new in pairwise(contents))
    return Inspection(scans, changes, findings.find(scans, changes))
