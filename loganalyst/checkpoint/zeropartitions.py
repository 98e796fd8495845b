"""Joins the partitions of DeepSpeed's ZeRO: the optimiser of all processes, by parameter.

In stages 1 and 2 a parameter group is one vector, and each process holds a range of it. In stage 3 each parameter is
cut into slices of equal length, one per process; a process holds its slices one after another. Keys as in DeepSpeed's
`checkpoint/constants.py` and `utils/zero_to_fp32.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from loganalyst.checkpoint import torchfile
from loganalyst.checkpoint.contents import Optimizer, number, optimizer_of_groups
from loganalyst.checkpoint.shardpieces import Piece, fill, joined
from loganalyst.checkpoint.tensorblocks import RAW, Stored
from loganalyst.errors import SourceError

if TYPE_CHECKING:
    from torch import Tensor

Shapes = list[dict[str, tuple[int, ...]]]  # shapes of the parameters, by parameter group
Flat = list[list["Tensor"]]  # by process, then by group
FORMAT = "each process writes a *_optim_states.pt with its range of every parameter group"
MASTER = "fp32"  # the name of the optimiser's float32 copy of a parameter


def read(files: Mapping[int, Path], states: Sequence[Mapping[str, Any]], shapes: Shapes) -> tuple[Optimizer, bool]:
    """The optimiser with its float32 copy of the parameters among the moments (as `.fp32`), and whether this is stage
    3.
    """
    _check_complete(files, states)
    path, is_stage_3 = files[min(files)], "fp32_flat_groups" in states[0]
    base = [_base(s.get("optimizer_state_dict" if is_stage_3 else "base_optimizer_state")) for s in states]
    found = optimizer_of_groups(base[0].get("param_groups"))
    groups = [mapping(b.get("state")) for b in base]
    steps = [number(mapping(g).get("step")) for b in groups for g in b.values()]
    found.step = max((int(s) for s in steps if s is not None), default=None)
    flats = {MASTER: [_flat(path, s, is_stage_3) for s in states]}
    for kind in dict.fromkeys(k for g in groups[0].values() for k, v in mapping(g).items() if torchfile.is_flat(v)):
        moments = [[g[kind] for g in b.values() if torchfile.is_flat(mapping(g).get(kind))] for b in groups]
        if [list(map(len, m)) for m in moments] == [list(map(len, f)) for f in flats[MASTER]]:
            flats[kind] = moments
    for kind, flat in flats.items():
        dtype = common_dtype(path, [t for process in flat for t in process])
        for name, shape, pieces in _sliced(shapes, flat) if is_stage_3 else _partitioned(shapes, flat):
            found.moments.append(tensor(path, f"{name}.{kind}", shape, pieces, dtype))
    return found, is_stage_3


def common_dtype(path: Path, parts: Sequence["Tensor"]) -> str:
    """The type that all parts have. Raises SourceError if they differ."""
    types = sorted({str(t.dtype).removeprefix("torch.") for t in parts}) or ["float32"]
    if len(types) > 1:
        raise SourceError(path, f"has several types: {', '.join(types)}", FORMAT)
    return types[0]


def mapping(value: Any) -> Mapping[Any, Any]:
    """The value if it is a dictionary, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _check_complete(files: Mapping[int, Path], states: Sequence[Mapping[str, Any]]) -> None:
    count = states[0].get("partition_count")
    counts = [c for c in (count if isinstance(count, (list, tuple)) else [count]) if type(c) is int]
    missing = [n for n in range(min(max(counts, default=0), len(files) + 1)) if n not in files]
    if missing:
        what = f"has {len(files)} of {max(counts)} partitions of the optimiser; that of process {missing[0]} is missing"
        raise SourceError(files[min(files)].parent, what, FORMAT)


def _base(state: Any) -> Mapping[Any, Any]:
    """The state of the inner optimiser; older versions have a list of groups."""
    return {"state": dict(enumerate(state))} if isinstance(state, list) else mapping(state)


def _flat(path: Path, state: Mapping[str, Any], is_stage_3: bool) -> list["Tensor"]:
    found = state.get("fp32_flat_groups" if is_stage_3 else "single_partition_of_fp32_groups")
    if not isinstance(found, (list, tuple)) or not all(map(torchfile.is_flat, found)):
        raise SourceError(path, "has no flat float32 groups of the parameters", FORMAT)
    return list(found)


def _partitioned(shapes: Shapes, flat: Flat) -> Iterator[tuple[str, tuple[int, ...], list[Piece]]]:
    for group, parameters in enumerate(shapes):
        vector, start = [f[group] for f in flat if group < len(f)], 0
        for name, shape in parameters.items():
            yield name, shape, cut(vector, start, prod(shape))
            start += prod(shape)


def _sliced(shapes: Shapes, flat: Flat) -> Iterator[tuple[str, tuple[int, ...], list[Piece]]]:
    start = 0
    for name, shape in ((n, s) for group in shapes for n, s in group.items()):
        count, length = prod(shape), ceil(prod(shape) / len(flat))
        offsets = range(0, count, length) if length else ()
        yield (
            name,
            shape,
            [p for at, f in zip(offsets, flat, strict=False) for p in cut(f, start, min(length, count - at), at)],
        )
        start += length


def cut(vector: Sequence["Tensor"], start: int, count: int, at: int = 0) -> list[Piece]:
    """`count` elements from `start` on of tensors that follow one another, as pieces that begin `at`."""
    found, end = [], start + count
    for part in vector:
        if start < len(part) and start < end:
            piece = part[start : min(end, len(part))]
            found.append(Piece((at,), (len(piece),), torchfile.stored(Path(), "", piece).raw))
            at, start = at + len(piece), start + len(piece)
        start, end = start - len(part), end - len(part)
    return found


def tensor(path: Path, name: str, shape: tuple[int, ...], pieces: list[Piece], dtype: str) -> Stored:
    """A parameter from its pieces. Raises SourceError if they have fewer or more elements than its shape."""
    count = prod(shape)
    if not fill((count,), pieces):
        have = sum(prod(p.shape) for p in pieces)
        raise SourceError(path, f"has {have} of the {count} elements of {name[:100]!r}", FORMAT)
    kind = np.dtype(RAW[dtype])
    return Stored(name, shape, dtype, lambda: joined((count,), pieces, kind), (path, name))
