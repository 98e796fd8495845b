"""The partitions of DeepSpeed's ZeRO, put together: the optimiser of all processes, by parameter.

In stages 1 and 2 a parameter group is one vector, of which each process holds a stretch. In stage 3 each parameter is
cut into a slice a process, one as long as another; a process holds its slices one behind the other. Keys as in
DeepSpeed's `checkpoint/constants.py` and `utils/zero_to_fp32.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from loganalyst.checkpoint import torchfile
from loganalyst.checkpoint.contents import Optimizer, described, number
from loganalyst.checkpoint.shardpieces import Piece, fill, joined
from loganalyst.checkpoint.tensorblocks import RAW, Stored
from loganalyst.errors import SourceError

if TYPE_CHECKING:
    from torch import Tensor

Shapes = list[dict[str, tuple[int, ...]]]  # of the parameters, by parameter group
Flat = list[list["Tensor"]]  # by process, then by group
FORMAT = "each process writes a *_optim_states.pt with its stretch of every parameter group"
MASTER = "fp32"


def read(files: Mapping[int, Path], states: Sequence[Mapping[str, Any]], shapes: Shapes) -> tuple[Optimizer, bool]:
    """The optimiser, its float32 copy of the parameters among the moments (as `.fp32`), and whether the stage is 3."""
    _complete(files, states)
    path, sliced = files[min(files)], "fp32_flat_groups" in states[0]
    base = [_base(s.get("optimizer_state_dict" if sliced else "base_optimizer_state")) for s in states]
    found = described(base[0].get("param_groups"))
    groups = [mapping(b.get("state")) for b in base]
    steps = [number(mapping(g).get("step")) for b in groups for g in b.values()]
    found.step = max((int(s) for s in steps if s is not None), default=None)
    flats = {MASTER: [_flat(path, s, sliced) for s in states]}
    for kind in dict.fromkeys(k for g in groups[0].values() for k, v in mapping(g).items() if torchfile.is_flat(v)):
        moments = [[g[kind] for g in b.values() if torchfile.is_flat(mapping(g).get(kind))] for b in groups]
        if [list(map(len, m)) for m in moments] == [list(map(len, f)) for f in flats[MASTER]]:
            flats[kind] = moments
    for kind, flat in flats.items():
        dtype = of_one_type(path, [t for process in flat for t in process])
        for name, shape, pieces in _sliced(shapes, flat) if sliced else _partitioned(shapes, flat):
            found.moments.append(tensor(path, f"{name}.{kind}", shape, pieces, dtype))
    return found, sliced


def of_one_type(path: Path, parts: Sequence["Tensor"]) -> str:
    """The type that all parts have. Raises SourceError where they differ."""
    types = sorted({str(t.dtype).removeprefix("torch.") for t in parts}) or ["float32"]
    if len(types) > 1:
        raise SourceError(path, f"is of several types: {', '.join(types)}", FORMAT)
    return types[0]


def mapping(value: Any) -> Mapping[Any, Any]:
    """The value if it is a dictionary, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _complete(files: Mapping[int, Path], states: Sequence[Mapping[str, Any]]) -> None:
    count = states[0].get("partition_count")
    counts = [c for c in (count if isinstance(count, (list, tuple)) else [count]) if type(c) is int]
    lost = [n for n in range(min(max(counts, default=0), len(files) + 1)) if n not in files]
    if lost:
        what = f"has {len(files)} of {max(counts)} partitions of the optimiser; that of process {lost[0]} is not there"
        raise SourceError(files[min(files)].parent, what, FORMAT)


def _base(state: Any) -> Mapping[Any, Any]:
    """The state of the optimiser within; older versions have a list of groups."""
    return {"state": dict(enumerate(state))} if isinstance(state, list) else mapping(state)


def _flat(path: Path, state: Mapping[str, Any], sliced: bool) -> list["Tensor"]:
    found = state.get("fp32_flat_groups" if sliced else "single_partition_of_fp32_groups")
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
        count, each = prod(shape), ceil(prod(shape) / len(flat))
        firsts = range(0, count, each) if each else ()
        yield (
            name,
            shape,
            [p for at, f in zip(firsts, flat, strict=False) for p in cut(f, start, min(each, count - at), at)],
        )
        start += each


def cut(vector: Sequence["Tensor"], start: int, count: int, at: int = 0) -> list[Piece]:
    """`count` elements from `start` of tensors that lie one behind the other, as pieces that begin `at`."""
    found, end = [], start + count
    for part in vector:
        if start < len(part) and start < end:
            some = part[start : min(end, len(part))]
            found.append(Piece((at,), (len(some),), torchfile.stored(Path(), "", some).raw))
            at, start = at + len(some), start + len(some)
        start, end = start - len(part), end - len(part)
    return found


def tensor(path: Path, name: str, shape: tuple[int, ...], pieces: list[Piece], dtype: str) -> Stored:
    """A parameter from its pieces. Raises SourceError where they are not as many elements as its shape."""
    count = prod(shape)
    if not fill((count,), pieces):
        have = sum(prod(p.shape) for p in pieces)
        raise SourceError(path, f"has {have} of the {count} elements of {name[:100]!r}", FORMAT)
    kind = np.dtype(RAW[dtype])
    return Stored(name, shape, dtype, lambda: joined((count,), pieces, kind), (path, name))
