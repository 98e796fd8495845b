"""Checkpoints of DeepSpeed: a file of the model a process group, and with ZeRO a partition of the optimiser a process.

Names of files and keys as in DeepSpeed's `checkpoint/constants.py` and `runtime/engine.py`.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

from loganalyst.checkpoint import torchfile, zeropartitions
from loganalyst.checkpoint.contents import Contents, gather
from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.checkpoint.zeropartitions import Shapes, mapping
from loganalyst.errors import SourceError

MODELS = "*model_states.pt"
NAMES = re.compile(r"(?:\w*?zero_pp_rank_(\d{1,6})_)?mp_rank_(\d{1,6})_(model|optim)_states\.pt")
LAYER = re.compile(r"layer_\d+(?=-)")
FORMAT = "a folder of DeepSpeed has *mp_rank_*_model_states.pt, and with ZeRO a *_optim_states.pt of each process"
Files = dict[int, Path]  # by the number of the process among those that share a slice of the model


def read(folder: Path) -> Contents:
    """What the checkpoint in `folder` holds. Raises SourceError where a partition is missing or does not fit."""
    models: dict[int, Files] = defaultdict(dict)  # by slice of the model
    partitions: dict[int, Files] = defaultdict(dict)
    found = Contents(folder, "deepspeed", 0)
    others = []
    for path in sorted(folder.glob("*_states.pt")):
        found.bytes += path.stat().st_size
        told = NAMES.fullmatch(path.name)
        if told:
            (models if told[3] == "model" else partitions)[int(told[2])][int(told[1] or 0)] = path
        else:
            others.append(path)
    for rank, files in sorted(models.items()):
        slice_ = _slice(files, partitions[rank])
        lead = f"mp_rank_{rank:02}." if len(models) > 1 else ""
        slice_.tensors = [t.named(lead + t.name) for t in slice_.tensors]
        found.add(slice_)
    for path in others:  # layers of a pipeline, experts
        layer = LAYER.match(path.name)
        tensors = _gathered(path, {"layer": _loaded(path)}).tensors
        found.tensors += [t.named(f"{layer[0]}.{t.name}") for t in tensors] if layer else tensors
    return found


def _loaded(path: Path) -> Mapping[str, Any]:
    data = torchfile.load(path)
    if not isinstance(data, Mapping):
        raise SourceError(path, f"holds a {type(data).__name__}, no dictionary", FORMAT)
    return data


def _gathered(path: Path, data: Mapping[str, Any]) -> Contents:
    import torch

    return gather(
        Contents(path, "", 0), data, torch.is_tensor, lambda name, tensor: torchfile.stored(path, name, tensor)
    )


def _slice(files: Files, partitions: Files) -> Contents:
    """One slice of the model, with the optimiser of its processes."""
    loaded = [_loaded(path) for _, path in sorted(files.items())]
    path, first = files[min(files)], loaded[0]
    found = _gathered(path, {name: value for name, value in first.items() if name != "module"})
    made = _frozen(path, loaded)
    found.tensors = _gathered(path, {"module": first.get("module")}).tensors
    if partitions:
        made |= _optimizer(found, partitions, _shapes(path, first.get("param_shapes")))
    for alias, name in mapping(first.get("shared_params")).items():
        if name in made:
            made[str(alias)] = made[name].named(str(alias))
    found.tensors = [t for t in found.tensors if t.name not in made] + list(made.values())
    return found


def _shapes(path: Path, told: Any) -> Shapes:
    groups = [mapping(g) for g in (told if isinstance(told, (list, tuple)) else [told])]
    try:
        return [{str(name): tuple(map(int, shape)) for name, shape in g.items()} for g in groups]
    except (TypeError, ValueError):
        raise SourceError(path, "tells of shapes of parameters that are none", FORMAT) from None


def _frozen(path: Path, loaded: list[Mapping[str, Any]]) -> dict[str, Stored]:
    """The parameters of stage 3 that are not trained: a fragment a process."""
    (shapes,) = _shapes(path, [loaded[0].get("frozen_param_shapes")])
    fragments = [mapping(data.get("frozen_param_fragments")) for data in loaded]
    made = {}
    for name, shape in shapes.items():
        parts = [part.flatten() for part in (f.get(name) for f in fragments) if torchfile.is_tensor(part)]
        made[name] = zeropartitions.tensor(
            path, name, shape, zeropartitions.cut(parts, 0, prod(shape)), zeropartitions.of_one_type(path, parts)
        )
    return made


def _optimizer(found: Contents, partitions: Files, shapes: Shapes) -> dict[str, Stored]:
    """Its state goes to `found`; what is returned are the parameters of stage 3, which are nowhere else."""
    try:
        states = [mapping(_loaded(path).get("optimizer_state_dict")) for _, path in sorted(partitions.items())]
    except torchfile.NeedsCodeError as error:
        if not any(prod(t.shape) for t in found.tensors):
            raise
        found.unread.append(f"{Path(error.where).name} {error.what}")
        return {}
    optimizer, sliced = zeropartitions.read(partitions, states, shapes)
    found.add(_gathered(partitions[min(partitions)], {"loss_scaler": states[0].get("loss_scaler")}))
    found.optimizers.append(optimizer)
    if not sliced:
        return {}
    masters = [t for t in optimizer.moments if t.name.endswith("." + zeropartitions.MASTER)]
    optimizer.moments = [t for t in optimizer.moments if t not in masters]
    named = [t.named(t.name.removesuffix("." + zeropartitions.MASTER)) for t in masters]
    return {t.name: t for t in named}
