"""Scans a whole checkpoint: all tensors, parameters by module, tied tensors, the state of the optimisers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from math import prod, sqrt
from statistics import median

from loganalyst.checkpoint.contents import Contents, Optimizer
from loganalyst.checkpoint.scanprogress import Steps
from loganalyst.checkpoint.spectra import with_spectrum
from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.checkpoint.tensorscan import TINY, scan
from loganalyst.limits import processors
from loganalyst.model import CheckpointScan, ModuleShare, OptimizerScan, TensorStats
from loganalyst.thresholds import checkpoint_limit

MAX_MODULES = 24  # rows of the table of modules, unless the model has no nesting
MAX_THREADS = 4  # more are not faster, because they wait for memory
# state that is not trained, such as "bn1.running_mean"
BUFFER = re.compile(r"(^|\.)(running_mean|running_var|num_batches_tracked|inv_freq|position_ids)$")


def tensor_count(found: Contents, *, spectra: bool) -> int:
    """The number of tensors to read."""
    return (2 if spectra else 1) * len(found.tensors) + sum(len(o.moments) for o in found.optimizers)


def scan_checkpoint(found: Contents, steps: Steps, *, spectra: bool = False) -> CheckpointScan:
    """Read all values of a checkpoint."""
    tensors = tuple(_scan_all(found.tensors, repeat(TINY), steps))
    if spectra:
        tensors = tuple(_with_spectra(found.tensors, tensors, steps))
    groups = _tied_groups(found.tensors)
    aliases = {name for group in groups for name in group[1:]}
    parameters = [t for s, t in zip(found.tensors, tensors, strict=True) if _is_parameter(s) and t.name not in aliases]
    total = sum(t.count for t in parameters)
    optimizers = tuple(_optimizer(o, steps) for o in found.optimizers)
    return CheckpointScan(
        path=found.path,
        format=found.format,
        bytes=found.bytes,
        tensors=tensors,
        modules=_modules(parameters, total),
        parameters=total,
        embedding_share=sum(t.count for t in parameters if t.embedding) / total if total else None,
        tied=groups,
        optimizers=optimizers,
        loss_scale=found.loss_scale,
        lr=tuple(found.lr) or next((o.lr for o in optimizers), ()),
        epoch=found.epoch,
        step=found.step,
        rng=tuple(dict.fromkeys(found.rng)),
        unread=tuple(found.unread),
    )


def _scan_all(stored: Sequence[Stored], limits: Iterable[float], steps: Steps) -> Iterator[TensorStats]:
    """Scan the tensors in parallel, in order: numpy releases the interpreter while it computes."""
    with ThreadPoolExecutor(min(processors(), MAX_THREADS)) as pool:
        for stats in pool.map(lambda tensor, tiny: scan(tensor, tiny=tiny), stored, limits):
            steps.advance()
            yield stats


def _with_spectra(stored: Iterable[Stored], tensors: Iterable[TensorStats], steps: Steps) -> Iterator[TensorStats]:
    """Add the spectra one at a time, because each holds a matrix."""
    for tensor, stats in zip(stored, tensors, strict=True):
        yield with_spectrum(tensor, stats)
        steps.advance()


def _is_parameter(stored: Stored) -> bool:
    return stored.floating and not BUFFER.search(stored.name)


def _tied_groups(tensors: Iterable[Stored]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that share their storage."""
    groups: dict[object, list[str]] = defaultdict(list)
    for t in tensors:
        if prod(t.shape):
            groups[t.storage].append(t.name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _modules(tensors: Sequence[TensorStats], total: int) -> tuple[ModuleShare, ...]:
    """Modules at the greatest depth that still makes a short table, in the order of the file."""
    groups: dict[str, list[TensorStats]] = {}
    for depth in range(1, 6):
        deeper: dict[str, list[TensorStats]] = defaultdict(list)
        for t in tensors:
            deeper[".".join(t.name.split(".")[:-1][:depth]) or t.name].append(t)
        if groups and (len(deeper) > MAX_MODULES or len(deeper) == len(groups)):
            break
        groups = deeper
    return tuple(_module(name, members, total) for name, members in groups.items())


def _module(name: str, members: Sequence[TensorStats], total: int) -> ModuleShare:
    parameters, norms = sum(t.count for t in members), [t.norm for t in members if t.count]
    known = [n for n in norms if n is not None]
    norm = sqrt(sum(n * n for n in known)) if len(known) == len(norms) else None
    return ModuleShare(name, parameters, parameters / total if total else 0.0, norm)


def _optimizer(found: Optimizer, steps: Steps) -> OptimizerScan:
    """Scan an optimiser. Second moments are compared with eps squared, other tensors with the usual limit."""
    is_second = [s.name.endswith(".exp_avg_sq") for s in found.moments]
    square = found.eps * found.eps
    moments = tuple(_scan_all(found.moments, (square if is_v else TINY for is_v in is_second), steps))
    second_moments = [m for m, is_v in zip(moments, is_second, strict=True) if is_v and m.count]
    nonzero, peaks = sum(m.count - m.zeros for m in second_moments), [m.max for m in second_moments if m.max]
    limit = checkpoint_limit("blown_up") * median(peaks) if peaks else 0.0
    return OptimizerScan(
        step=found.step,
        eps=found.eps,
        lr=tuple(found.lr),
        moments=moments,
        blown_up=tuple(m.name for m in second_moments if m.max and m.max > limit),
        eps_share=sum(m.tiny - m.zeros for m in second_moments) / nonzero if nonzero else None,
    )
