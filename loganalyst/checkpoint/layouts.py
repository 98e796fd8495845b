"""Which files make a checkpoint: one file, an index of shards, or a folder as HF Trainer writes it."""

import json
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from loganalyst import opening
from loganalyst.checkpoint import dcpcheckpoint, dcpmetadata, deepspeed, safetensors, torchfile
from loganalyst.checkpoint.contents import RANDOM, Contents, gather, number
from loganalyst.errors import SourceError
from loganalyst.limits import between_holes
from loganalyst.opening import Bounds, OutsideError, opened, whole

MODELS = (  # of a folder; the first one that is there is the model
    "model.safetensors.index.json",
    "model.safetensors",
    "adapter_model.safetensors",
    "pytorch_model.bin.index.json",
    "pytorch_model.bin",
    "adapter_model.bin",
)
BESIDE = ("optimizer.*", "scheduler.*", "scaler.*", "meta.pt", "trainer_state.json", "rng_state*.pth", "random_states*")
STATE = (".pt", ".bin", ".pth", ".pkl", ".json")
WITHIN = (
    "pytorch_model_fsdp_0",
    "model",
    "checkpoint",
)  # folders of a folder that hold the model: Accelerate, Lightning
LATEST = "latest"  # DeepSpeed's file that names the folder it wrote last
SNAPSHOTS, BLOBS = "snapshots", "blobs"  # of Hugging Face's cache
LONGEST_JSON = 200_000_000  # bytes
KNOWN = "a safetensors file or its index, a file of torch.save, or a folder of HF Trainer, DeepSpeed or FSDP"


def read(path: Path) -> Contents:
    """What the checkpoint at `path` holds; its numbers are read later, in blocks. Raises SourceError."""
    try:
        with opening.within(opening.here() or bounds(path)):
            return _folder(path) if path.is_dir() else _file(path)
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror or error})", KNOWN) from None


def bounds(path: Path) -> Bounds:
    """Where the files of a checkpoint may lie: what was named itself, which may be a link, and its folder. Those in the
    cache of Hugging Face (`snapshots/<revision>`) are links to `blobs` beside it.
    """
    folder = Path(os.path.realpath(path if path.is_dir() else path.parent))
    cache = folder.parent.parent / BLOBS
    return opening.bounds([folder, *([cache] if folder.parent.name == SNAPSHOTS else [])], [os.path.realpath(path)])


def _folder(path: Path) -> Contents:
    """The model, by the layout that is there, and the state that lies beside it."""
    model = next((path / name for name in MODELS if (path / name).is_file()), None)
    found = _file(model) if model else _parts(path)
    if found is None:
        what = "is a folder without a model"
        raise SourceError(path, what, f"a folder has one of {', '.join(MODELS)}, or the parts of DeepSpeed or FSDP")
    found.path, found.format = path, f"folder, {found.format}" if model else found.format
    if model and (split := _parts(path)):
        found.add_state(split)
    for optimizer in sorted(path.glob("optimizer_[0-9]")):
        if (optimizer / dcpmetadata.NAME).is_file():
            found.add_state(dcpcheckpoint.read(optimizer))
    for beside in (p for pattern in BESIDE for p in sorted(path.glob(pattern)) if p.suffix in STATE and p.is_file()):
        _add(found, beside)
    return found


def _parts(path: Path) -> Contents | None:
    """A checkpoint in parts by process, in this folder or in the one of its folders that has the model."""
    within = (path / name for name in (_latest(path), *WITHIN) if name)
    return next((found for folder in (path, *within) if folder.is_dir() and (found := _split(folder))), None)


def _split(path: Path) -> Contents | None:
    if (path / dcpmetadata.NAME).is_file():
        return dcpcheckpoint.read(path)
    if any(path.glob(deepspeed.MODELS)):
        return deepspeed.read(path)
    if any(path.glob("*.distcp")):
        raise SourceError(path, f"has parts by process, but no {dcpmetadata.NAME}: nobody finished writing it", KNOWN)
    return None


def _latest(path: Path) -> str | None:
    if not (path / LATEST).is_file():
        return None
    with opened(path / LATEST) as file:
        name = file.read(200).decode("utf-8", "replace").strip()
    if not _plain(name):
        raise SourceError(path / LATEST, f"names a folder elsewhere: {name[:100]!r}", "it names a folder beside it")
    return name


def _add(found: Contents, path: Path) -> None:
    """State beside the model; where it would need code it is left out, and that is told."""
    try:
        if path.suffix == ".json":
            found.add_state(_file(path))
        elif RANDOM.search(path.name):
            data = torchfile.load(path)
            found.rng += sorted(map(str, data)) if isinstance(data, dict) else [path.stem]
            found.bytes += path.stat().st_size
        else:
            found.add_state(_file(path))
    except torchfile.NeedsCodeError as error:
        found.unread.append(f"{path.name} {error.what}")
    except OutsideError as error:
        found.unread.append(f"{path.name} is {error.strerror}")


def _plain(name: str) -> bool:
    """Whether it is the name of a file or folder in the same folder."""
    return PurePosixPath(name.replace("\\", "/")).name == name and name not in ("", ".", "..")


def _file(path: Path) -> Contents:
    if not path.exists():
        raise SourceError(path, "there is no such file", KNOWN)
    if not path.is_file():
        raise SourceError(path, "is neither a file nor a folder", KNOWN)
    if (data := between_holes(path)) is not None:
        size, held = path.stat().st_size, sum(end - begin for begin, end in data)
        raise SourceError(path, f"is a sparse file: of its {size:,} bytes {held:,} are there", KNOWN)
    return _reader(path)(path)


def _reader(path: Path) -> Callable[[Path], Contents]:
    """By name for JSON, else by the first bytes."""
    if path.name.endswith(".index.json"):
        return _shards
    if path.name == "trainer_state.json":
        return _trainer_state
    with opened(path) as file:
        start = file.read(9)
    if start.startswith(b"PK"):
        return _torch
    if path.suffix == ".safetensors" or start[8:] == b"{":
        return _safetensors
    if start.startswith(b"\x80"):
        raise torchfile.refuse_pickle(path)
    raise SourceError(path, "is no checkpoint" if start else "is empty", KNOWN)


def _safetensors(path: Path) -> Contents:
    return Contents(path, "safetensors", path.stat().st_size, safetensors.read(path))


def _torch(path: Path) -> Contents:
    data = torchfile.load(path)
    import torch

    lightning = isinstance(data, dict) and "pytorch-lightning_version" in data
    found = Contents(path, "lightning" if lightning else "torch", path.stat().st_size)
    return gather(found, data, torch.is_tensor, lambda name, tensor: torchfile.stored(path, name, tensor))


def _shards(path: Path) -> Contents:
    """The files an index names, which lie beside it."""
    named = _json(path).get("weight_map")
    if not isinstance(named, dict) or not named or not all(isinstance(v, str) for v in named.values()):
        raise SourceError(path, "has no weight_map from tensors to files", KNOWN)
    found = Contents(path, "shards", 0)
    for name in dict.fromkeys(named.values()):
        if not _plain(name):
            raise SourceError(path, f"names a file outside its folder: {name[:100]!r}", "shards lie beside their index")
        if name.endswith(".index.json"):
            raise SourceError(path, f"names another index: {name[:100]!r}", "an index names files with tensors")
        found.add(_file(path.parent / name))
    lost = sorted(named.keys() - {t.name for t in found.tensors})
    if lost:
        raise SourceError(path, f"names {len(lost)} tensors that are not there, such as {lost[0][:100]!r}", KNOWN)
    return found


def _trainer_state(path: Path) -> Contents:
    state = _json(path)
    found = Contents(path, "json", path.stat().st_size)
    found.epoch, step = number(state.get("epoch")), number(state.get("global_step"))
    found.step = None if step is None else int(step)
    return found


def _json(path: Path) -> dict[str, Any]:
    if path.stat().st_size > LONGEST_JSON:
        raise SourceError(path, "is too long for what it should hold", f"at most {LONGEST_JSON} bytes")
    try:
        found = json.loads(whole(path))
    except (ValueError, RecursionError) as error:
        raise SourceError(path, f"is no JSON ({str(error)[:100]})", KNOWN) from None
    if not isinstance(found, dict):
        raise SourceError(path, "is no JSON object", KNOWN)
    return found
