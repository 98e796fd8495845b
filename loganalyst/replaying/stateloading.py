"""Loads a checkpoint into the objects of a ReplaySpec. Nothing of the file runs; notes name what does not fit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from loganalyst import opening
from loganalyst.checkpoint import layouts, torchfile
from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.errors import SourceError
from loganalyst.opening import OutsideError
from loganalyst.replaying import weightloading
from loganalyst.replaying.combinedoptimisers import members
from loganalyst.replaying.spec import ReplaySpec

STATE_PREFIXES = ("optimizer", "scheduler", "scaler", "rng_state", "random_states")  # of state files in a folder
STATE_SUFFIXES = (".pt", ".bin", ".pth", ".pkl")
MAX_NESTING = 8  # levels of dicts and lists
MAX_LIST = 1000  # entries of a list that is searched
CUDA_STATE_BYTES = 16  # a GPU's random state is a seed and an offset


@dataclass
class Loaded:
    """What was loaded: the checkpoint's step if it has one, torch's random states, and what did not fit."""

    step: int | None = None
    random_state: Any = None
    cuda_state: Any = None  # state of the first GPU
    notes: list[str] = field(default_factory=list)


def load(path: Path, spec: ReplaySpec) -> Loaded:
    """Load model, optimiser, scheduler, scaler and random state. Raises ReplayError if no tensor fits the model,
    SourceError if the checkpoint cannot be read safely.
    """
    with opening.within(layouts.bounds(path)):
        contents = layouts.read(path)
        found = Loaded(step=contents.step)
        found.notes += weightloading.load(path, contents.tensors, spec.model)
        mappings = list(_state_mappings(path, found))
    states = [p for p in mappings if {"state", "param_groups"} <= p.keys()]
    for optimizer in members(spec.optimizer):
        _load_optimizer(optimizer, states, found)
    for name, keys in (("scheduler", {"last_epoch"}), ("scaler", {"scale", "growth_factor"})):
        fitting = [p for p in mappings if keys <= p.keys()]
        for i, part in enumerate(members(getattr(spec, name))):
            _load_part(name, part, fitting[i:], found)
    return found


def needed_memory(path: Path, spec: ReplaySpec) -> int:
    """The least memory of a replay in bytes: weights, gradients, the optimiser's state, and a copy to restore.

    The activations of a step come on top and show only when a step is made.
    """
    contents = layouts.read(path)
    state = sum(map(_bytes, (moment for o in contents.optimizers for moment in o.moments)))
    weights = sum(p.numel() * p.element_size() for p in spec.model.parameters())
    return 3 * weights + 2 * state


def _bytes(stored: Stored) -> int:
    import torch

    dtype = getattr(torch, stored.dtype, torch.float32)
    return prod(stored.shape) * int(dtype.itemsize)


def _state_mappings(path: Path, found: Loaded) -> Iterator[Mapping[Any, Any]]:
    """Every mapping in the files of state, outer ones first."""
    for file in _files(path):
        try:
            data = torchfile.load(file)
        except SourceError as error:
            found.notes.append(f"{file.name} is not restored: it {error.what}")
            continue
        except OutsideError as error:
            found.notes.append(f"{file.name} is not restored: it is {error.strerror}")
            continue
        _take_random_states(data, found)
        yield from _mappings(data, 0)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.suffix != ".safetensors" and not path.name.endswith(".json") else []
    states = (p for p in sorted(path.iterdir()) if p.name.startswith(STATE_PREFIXES) and p.suffix in STATE_SUFFIXES)
    return [p for p in states if p.is_file()]


def _mappings(value: Any, depth: int) -> Iterator[Mapping[Any, Any]]:
    if depth > MAX_NESTING:
        return
    if isinstance(value, Mapping):
        yield value
        for part in value.values():
            yield from _mappings(part, depth + 1)
    elif isinstance(value, (list, tuple)) and len(value) < MAX_LIST:
        for part in value:
            yield from _mappings(part, depth + 1)


def _take_random_states(data: Any, found: Loaded) -> None:
    """Take the random states of torch. Type and length identify them, a GPU's by the name as well."""
    import torch

    length = torch.get_rng_state().numel()
    for mapping in _mappings(data, MAX_NESTING - 2):
        for key, value in mapping.items():
            state = value[0] if isinstance(value, (list, tuple)) and value else value
            if not torch.is_tensor(state) or state.dtype != torch.uint8:
                continue
            if state.shape == (length,) and found.random_state is None:
                found.random_state = state.clone()
            if state.shape == (CUDA_STATE_BYTES,) and "cuda" in str(key) and found.cuda_state is None:
                found.cuda_state = state.clone()


def _load_optimizer(optimizer: Any, states: list[Mapping[Any, Any]], found: Loaded) -> None:
    """Load the first state whose groups have the right numbers of parameters, and remove it from `states`."""
    sizes = [len(group["params"]) for group in optimizer.param_groups]
    if not states:
        found.notes.append("the checkpoint has no state of an optimiser: it starts from scratch, as after a restart")
        return
    for i, state in enumerate(states):
        try:
            if [len(group["params"]) for group in state["param_groups"]] == sizes:
                optimizer.load_state_dict(state)
                del states[i]
                return
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError):
            continue
    found.notes.append(f"the optimiser's state does not fit groups of {sizes} parameters: it starts from scratch")


def _load_part(name: str, part: Any, states: Sequence[Mapping[Any, Any]], found: Loaded) -> None:
    """Load the state of a scheduler or scaler."""
    if not hasattr(part, "load_state_dict"):
        return
    if not states:
        found.notes.append(f"the checkpoint has no state of a {name}: it starts from scratch")
        return
    try:
        part.load_state_dict(dict(states[0]))
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        found.notes.append(f"the state of the {name} does not fit ({str(error)[:100]}): it starts from scratch")
