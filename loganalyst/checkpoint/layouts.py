"""Which files make up a checkpoint: one file, an index of shards, or a folder as HF Trainer writes it."""

import json
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from loganalyst import opening
from loganalyst.checkpoint import dcpcheckpoint, dcpmetadata, deepspeed, safetensors, torchfile
from loganalyst.checkpoint.contents import RNG_NAME, Contents, gather, number
from loganalyst.errors import SourceError
from loganalyst.limits import between_holes
from loganalyst.opening import Bounds, OutsideError, opened, whole

MODEL_FILES = (  # in a folder, the first of these that exists is the model
    "model.safetensors.index.json",
    "model.safetensors",
    "adapter_model.safetensors",
    "pytorch_model.bin.index.json",
    "pytorch_model.bin",
    "adapter_model.bin",
)
STATE_FILES = (
    *("optimizer.*", "scheduler.*", "scaler.*", "meta.pt"),
    *("trainer_state.json", "rng_state*.pth", "random_states*"),
)
STATE_SUFFIXES = (".pt", ".bin", ".pth", ".pkl", ".json")
MODEL_SUBFOLDERS = ("pytorch_model_fsdp_0", "model", "checkpoint")  # of Accelerate and Lightning
LATEST = "latest"  # DeepSpeed's file that names the newest folder
SNAPSHOTS, BLOBS = "snapshots", "blobs"  # folders of Hugging Face's cache
MAX_JSON_BYTES = 200_000_000
READABLE = "a safetensors file or its index, a file of torch.save, or a folder of HF Trainer, DeepSpeed or FSDP"


def read(path: Path) -> Contents:
    """The contents of the checkpoint at `path`; its values are read later, in blocks. Raises SourceError."""
    try:
        with opening.within(opening.here() or bounds(path)):
            return _read_folder(path) if path.is_dir() else _read_file(path)
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror or error})", READABLE) from None


def bounds(path: Path) -> Bounds:
    """Where the files of a checkpoint may lie: its folder, and the named path itself, which may be a link. In the cache
    of Hugging Face, files in `snapshots/<revision>` are links to the neighbouring folder `blobs`.
    """
    folder = Path(os.path.realpath(path if path.is_dir() else path.parent))
    cache = folder.parent.parent / BLOBS
    return opening.bounds([folder, *([cache] if folder.parent.name == SNAPSHOTS else [])], [os.path.realpath(path)])


def _read_folder(path: Path) -> Contents:
    """The model in the layout that is present, and the state next to it."""
    model = next((path / name for name in MODEL_FILES if (path / name).is_file()), None)
    found = _read_file(model) if model else _partitioned(path)
    if found is None:
        what = "is a folder without a model"
        raise SourceError(path, what, f"a folder has one of {', '.join(MODEL_FILES)}, or files of DeepSpeed or FSDP")
    found.path, found.format = path, f"folder, {found.format}" if model else found.format
    if model and (partitioned := _partitioned(path)):
        found.add_state(partitioned)
    for optimizer in sorted(path.glob("optimizer_[0-9]")):
        if (optimizer / dcpmetadata.NAME).is_file():
            found.add_state(dcpcheckpoint.read(optimizer))
    for state in (p for pattern in STATE_FILES for p in sorted(path.glob(pattern))):
        if state.suffix in STATE_SUFFIXES and state.is_file():
            _add_state_file(found, state)
    return found


def _partitioned(path: Path) -> Contents | None:
    """A checkpoint that several processes wrote, in this folder or in a subfolder that holds the model."""
    subfolders = (path / name for name in (_latest_folder(path), *MODEL_SUBFOLDERS) if name)
    folders = (folder for folder in (path, *subfolders) if folder.is_dir())
    return next((found for folder in folders if (found := _read_partitioned(folder))), None)


def _read_partitioned(path: Path) -> Contents | None:
    if (path / dcpmetadata.NAME).is_file():
        return dcpcheckpoint.read(path)
    if any(path.glob(deepspeed.MODEL_FILES)):
        return deepspeed.read(path)
    if any(path.glob("*.distcp")):
        what = f"has files of single processes, but no {dcpmetadata.NAME}: it was not written to its end"
        raise SourceError(path, what, READABLE)
    return None


def _latest_folder(path: Path) -> str | None:
    if not (path / LATEST).is_file():
        return None
    with opened(path / LATEST) as file:
        name = file.read(200).decode("utf-8", "replace").strip()
    if not _is_plain_name(name):
        raise SourceError(path / LATEST, f"names a folder elsewhere: {name[:100]!r}", "it names a folder next to it")
    return name


def _add_state_file(found: Contents, path: Path) -> None:
    """Add a file of state next to the model; if it needs code it is left out and listed as unread."""
    try:
        if path.suffix == ".json":
            found.add_state(_read_file(path))
        elif RNG_NAME.search(path.name):
            data = torchfile.load(path)
            found.rng += sorted(map(str, data)) if isinstance(data, dict) else [path.stem]
            found.bytes += path.stat().st_size
        else:
            found.add_state(_read_file(path))
    except torchfile.NeedsCodeError as error:
        found.unread.append(f"{path.name} {error.what}")
    except OutsideError as error:
        found.unread.append(f"{path.name} is {error.strerror}")


def _is_plain_name(name: str) -> bool:
    """Whether this names a file or folder in the same folder."""
    return PurePosixPath(name.replace("\\", "/")).name == name and name not in ("", ".", "..")


def _read_file(path: Path) -> Contents:
    if not path.exists():
        raise SourceError(path, "there is no such file", READABLE)
    if not path.is_file():
        raise SourceError(path, "is neither a file nor a folder", READABLE)
    if (data := between_holes(path)) is not None:
        size, held = path.stat().st_size, sum(end - begin for begin, end in data)
        raise SourceError(path, f"is a sparse file: only {held:,} of its {size:,} bytes are present", READABLE)
    return _reader(path)(path)


def _reader(path: Path) -> Callable[[Path], Contents]:
    """The reader for a file: by name for JSON, else by the first bytes."""
    if path.name.endswith(".index.json"):
        return _read_shards
    if path.name == "trainer_state.json":
        return _read_trainer_state
    with opened(path) as file:
        start = file.read(9)
    if start.startswith(b"PK"):
        return _read_torch
    if path.suffix == ".safetensors" or start[8:] == b"{":
        return _read_safetensors
    if start.startswith(b"\x80"):
        raise torchfile.refuse_pickle(path)
    raise SourceError(path, "is not a checkpoint" if start else "is empty", READABLE)


def _read_safetensors(path: Path) -> Contents:
    return Contents(path, "safetensors", path.stat().st_size, safetensors.read(path))


def _read_torch(path: Path) -> Contents:
    data = torchfile.load(path)
    import torch

    lightning = isinstance(data, dict) and "pytorch-lightning_version" in data
    found = Contents(path, "lightning" if lightning else "torch", path.stat().st_size)
    return gather(found, data, torch.is_tensor, lambda name, tensor: torchfile.stored(path, name, tensor))


def _read_shards(path: Path) -> Contents:
    """The files that an index names, which lie next to it."""
    named = _load_json(path).get("weight_map")
    if not isinstance(named, dict) or not named or not all(isinstance(v, str) for v in named.values()):
        raise SourceError(path, "has no weight_map from tensors to files", READABLE)
    found = Contents(path, "shards", 0)
    for name in dict.fromkeys(named.values()):
        if not _is_plain_name(name):
            what = f"names a file outside its folder: {name[:100]!r}"
            raise SourceError(path, what, "shards lie next to their index")
        if name.endswith(".index.json"):
            raise SourceError(path, f"names another index: {name[:100]!r}", "an index names files with tensors")
        found.add(_read_file(path.parent / name))
    missing = sorted(named.keys() - {t.name for t in found.tensors})
    if missing:
        what = f"names {len(missing)} tensors that no file has, such as {missing[0][:100]!r}"
        raise SourceError(path, what, READABLE)
    return found


def _read_trainer_state(path: Path) -> Contents:
    state = _load_json(path)
    found = Contents(path, "json", path.stat().st_size)
    found.epoch, step = number(state.get("epoch")), number(state.get("global_step"))
    found.step = None if step is None else int(step)
    return found


def _load_json(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MAX_JSON_BYTES:
        raise SourceError(path, "is too long for its kind", f"at most {MAX_JSON_BYTES} bytes")
    try:
        found = json.loads(whole(path))
    except (ValueError, RecursionError) as error:
        raise SourceError(path, f"is not JSON ({str(error)[:100]})", READABLE) from None
    if not isinstance(found, dict):
        raise SourceError(path, "is not a JSON object", READABLE)
    return found
