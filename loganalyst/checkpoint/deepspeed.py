"""Checkpoints of DeepSpeed: one model file per process group, and with ZeRO one optimiser partition per process.

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

MODEL_FILES = "*model_states.pt"
# "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt" is process 1 of slice 0, "mp_rank_00_model_states.pt" process 0
STATE_FILE = re.compile(r"(?:\w*?zero_pp_rank_(\d{1,6})_)?mp_rank_(\d{1,6})_(model|optim)_states\.pt")
PIPELINE_LAYER = re.compile(r"layer_\d+(?=-)")  # "layer_03" of "layer_03-model_00-model_states.pt"
FORMAT = "a folder of DeepSpeed has *mp_rank_*_model_states.pt, and with ZeRO one *_optim_states.pt per process"
Files = dict[int, Path]  # by the number of the process in the group that shares a slice of the model


def read(folder: Path) -> Contents:
    """The contents of the checkpoint in `folder`. Raises SourceError if a partition is missing or inconsistent."""
    models: dict[int, Files] = defaultdict(dict)  # by slice of the model
    partitions: dict[int, Files] = defaultdict(dict)
    found = Contents(folder, "deepspeed", 0)
    others = []
    for path in sorted(folder.glob("*_states.pt")):
        found.bytes += path.stat().st_size
        match = STATE_FILE.fullmatch(path.name)
        if match:
            (models if match[3] == "model" else partitions)[int(match[2])][int(match[1] or 0)] = path
        else:
            others.append(path)
    for rank, files in sorted(models.items()):
        slice_ = _slice(files, partitions[rank])
        prefix = f"mp_rank_{rank:02}." if len(models) > 1 else ""
        slice_.tensors = [t.named(prefix + t.name) for t in slice_.tensors]
        found.add(slice_)
    for path in others:  # layers of a pipeline, experts
        layer = PIPELINE_LAYER.match(path.name)
        tensors = _gather(path, {"layer": _load(path)}).tensors
        found.tensors += [t.named(f"{layer[0]}.{t.name}") for t in tensors] if layer else tensors
    return found


def _load(path: Path) -> Mapping[str, Any]:
    data = torchfile.load(path)
    if not isinstance(data, Mapping):
        raise SourceError(path, f"holds a {type(data).__name__}, not a dictionary", FORMAT)
    return data


def _gather(path: Path, data: Mapping[str, Any]) -> Contents:
    import torch

    return gather(
        Contents(path, "", 0), data, torch.is_tensor, lambda name, tensor: torchfile.stored(path, name, tensor)
    )


def _slice(files: Files, partitions: Files) -> Contents:
    """One slice of the model, with the optimiser of its processes."""
    loaded = [_load(path) for _, path in sorted(files.items())]
    path, first = files[min(files)], loaded[0]
    found = _gather(path, {name: value for name, value in first.items() if name != "module"})
    tensors = _frozen(path, loaded)
    found.tensors = _gather(path, {"module": first.get("module")}).tensors
    if partitions:
        tensors |= _optimizer(found, partitions, _shapes(path, first.get("param_shapes")))
    for alias, name in mapping(first.get("shared_params")).items():
        if name in tensors:
            tensors[str(alias)] = tensors[name].named(str(alias))
    found.tensors = [t for t in found.tensors if t.name not in tensors] + list(tensors.values())
    return found


def _shapes(path: Path, stated: Any) -> Shapes:
    groups = [mapping(g) for g in (stated if isinstance(stated, (list, tuple)) else [stated])]
    try:
        return [{str(name): tuple(map(int, shape)) for name, shape in g.items()} for g in groups]
    except (TypeError, ValueError):
        raise SourceError(path, "states invalid shapes of parameters", FORMAT) from None


def _frozen(path: Path, loaded: list[Mapping[str, Any]]) -> dict[str, Stored]:
    """The frozen parameters of stage 3, of which each process has a fragment."""
    (shapes,) = _shapes(path, [loaded[0].get("frozen_param_shapes")])
    fragments = [mapping(data.get("frozen_param_fragments")) for data in loaded]
    tensors = {}
    for name, shape in shapes.items():
        parts = [part.flatten() for part in (f.get(name) for f in fragments) if torchfile.is_tensor(part)]
        tensors[name] = zeropartitions.tensor(
            path, name, shape, zeropartitions.cut(parts, 0, prod(shape)), zeropartitions.common_dtype(path, parts)
        )
    return tensors


def _optimizer(found: Contents, partitions: Files, shapes: Shapes) -> dict[str, Stored]:
    """Add the optimiser's state to `found`. Returns the parameters of stage 3, which no other file holds."""
    try:
        states = [mapping(_load(path).get("optimizer_state_dict")) for _, path in sorted(partitions.items())]
    except torchfile.NeedsCodeError as error:
        if not any(prod(t.shape) for t in found.tensors):
            raise
        found.unread.append(f"{Path(error.where).name} {error.what}")
        return {}
    optimizer, is_stage_3 = zeropartitions.read(partitions, states, shapes)
    found.add(_gather(partitions[min(partitions)], {"loss_scaler": states[0].get("loss_scaler")}))
    found.optimizers.append(optimizer)
    if not is_stage_3:
        return {}
    masters = [t for t in optimizer.moments if t.name.endswith("." + zeropartitions.MASTER)]
    optimizer.moments = [t for t in optimizer.moments if t not in masters]
    named = [t.named(t.name.removesuffix("." + zeropartitions.MASTER)) for t in masters]
    return {t.name: t for t in named}
