"""A checkpoint's state into the objects of a ReplaySpec. Nothing of the file is run; what does not fit is told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from loganalyst import opening
from loganalyst.checkpoint import layouts, torchfile
from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.errors import ReplayError, SourceError, nearest
from loganalyst.opening import OutsideError
from loganalyst.replaying.combinedoptimisers import each
from loganalyst.replaying.spec import ReplaySpec

BESIDE = ("optimizer", "scheduler", "scaler", "rng_state", "random_states")  # files of a folder, by their names' start
SUFFIXES = (".pt", ".bin", ".pth", ".pkl")
DEEPEST = 8
NAMED = 3  # names in a sentence
CUDA_LENGTH = 16  # bytes of the state of a GPU's random numbers: seed and offset


@dataclass
class Loaded:
    """What was loaded: the step the checkpoint tells (None: none), torch's random states, what did not fit."""

    step: int | None = None
    random_state: Any = None
    cuda_state: Any = None  # of the first GPU
    notes: list[str] = field(default_factory=list)


def load(path: Path, spec: ReplaySpec) -> Loaded:
    """Load model, optimiser, scheduler, scaler and random state. Raises ReplayError where no tensor fits the model,
    SourceError where the checkpoint cannot be read safely.
    """
    with opening.within(layouts.bounds(path)):
        contents = layouts.read(path)
        found = Loaded(step=contents.step)
        _model(path, contents.tensors, spec.model, found)
        parts = list(_parts(path, found))
    states = [p for p in parts if {"state", "param_groups"} <= p.keys()]
    for optimizer in each(spec.optimizer):
        _optimizer(optimizer, states, found)
    for name, keys in (("scheduler", {"last_epoch"}), ("scaler", {"scale", "growth_factor"})):
        fit = [p for p in parts if keys <= p.keys()]
        for i, part in enumerate(each(getattr(spec, name))):
            _part(name, part, fit[i:], found)
    return found


def needed(path: Path, spec: ReplaySpec) -> int:
    """Bytes that a replay takes at the least: weights, gradients, the optimiser's state, and a copy to go back to.

    What a step itself needs (activations) comes on top and shows only when one is made.
    """
    contents = layouts.read(path)
    state = sum(map(_bytes, (moment for o in contents.optimizers for moment in o.moments)))
    weights = sum(p.numel() * p.element_size() for p in spec.model.parameters())
    return 3 * weights + 2 * state


def _bytes(stored: Stored) -> int:
    import torch

    dtype = getattr(torch, stored.dtype, torch.float32)
    return prod(stored.shape) * int(dtype.itemsize)


def _model(path: Path, tensors: Sequence[Stored], model: Any, found: Loaded) -> None:
    import torch

    wanted = model.state_dict()
    named = _fitting({t.name: t for t in tensors}, wanted)
    fits = {name: t for name, t in named.items() if name in wanted and t.shape == tuple(wanted[name].shape)}
    if not fits:
        first = next(iter(named), "nothing")
        what = f"none of its {len(named)} tensors fits the model of the entry, which has {len(wanted)}"
        hint = nearest(first, wanted) or f"the model's are named like {next(iter(wanted), 'nothing')!r}"
        raise ReplayError(path, f"{what} (it has {first[:80]!r})", hint)
    model.load_state_dict({name: tensor(stored) for name, stored in fits.items()}, strict=False)
    reshaped = [name for name in named if name in wanted and name not in fits]
    tied = {id(value): name for name, value in wanted.items() if name in fits and torch.is_tensor(value)}
    missing = [n for n, value in wanted.items() if n not in named and id(value) not in tied and not _shared(n, model)]
    extra = [name for name in named if name not in wanted]
    for names, what in ((missing, "missing"), (extra, "not in the model"), (reshaped, "of another shape")):
        if names:
            found.notes.append(f"{len(names)} tensors of the checkpoint are {what}: {_listed(names)}")


def _shared(name: str, model: Any) -> bool:
    """Whether the parameter is another's under a second name: then it is loaded with that."""
    every = dict(model.named_parameters(remove_duplicate=False))
    return name in every and sum(p is every[name] for p in every.values()) > 1


def _fitting(tensors: Mapping[str, Stored], wanted: Mapping[str, Any]) -> dict[str, Stored]:
    """The tensors under the names that fit the model best: as they are, without a prefix such as `module.`, or with
    the one that the model's own have.
    """
    prefixes = {""} | {".".join(name.split(".")[:n]) + "." for name in tensors for n in (1, 2) if name.count(".") >= n}
    own = {name.split(".")[0] + "." for name in wanted if "." in name}
    ways = [{n.removeprefix(p): t for n, t in tensors.items() if n.startswith(p)} for p in sorted(prefixes)]
    ways += [{p + n: t for n, t in tensors.items()} for p in sorted(own)]

    def score(way: Mapping[str, Stored]) -> int:
        return sum(t.shape == tuple(wanted[n].shape) for n, t in way.items() if n in wanted)

    best = max(score(way) for way in ways)
    return next(way for way in ways if score(way) == best)


def tensor(stored: Stored) -> Any:
    """A stored tensor in memory."""
    import torch

    dtype = getattr(torch, stored.dtype)
    out = torch.empty(stored.shape, dtype=dtype)
    flat, done = out.view(-1), 0
    for block in stored.raw():
        piece = torch.from_numpy(block.copy())
        flat[done : done + len(block)] = piece if piece.dtype == dtype else piece.view(dtype)
        done += len(block)
    return out


def _parts(path: Path, found: Loaded) -> Iterator[Mapping[Any, Any]]:
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
        _random(data, found)
        yield from _mappings(data, 0)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.suffix != ".safetensors" and not path.name.endswith(".json") else []
    beside = (p for p in sorted(path.iterdir()) if p.name.startswith(BESIDE) and p.suffix in SUFFIXES)
    return [p for p in beside if p.is_file()]


def _mappings(value: Any, depth: int) -> Iterator[Mapping[Any, Any]]:
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        yield value
        for part in value.values():
            yield from _mappings(part, depth + 1)
    elif isinstance(value, (list, tuple)) and len(value) < 1000:
        for part in value:
            yield from _mappings(part, depth + 1)


def _random(data: Any, found: Loaded) -> None:
    """The states of torch's random numbers are known by their type and length, a GPU's by its name as well."""
    import torch

    length = torch.get_rng_state().numel()
    for mapping in _mappings(data, DEEPEST - 2):
        for key, value in mapping.items():
            state = value[0] if isinstance(value, (list, tuple)) and value else value
            if not torch.is_tensor(state) or state.dtype != torch.uint8:
                continue
            if state.shape == (length,) and found.random_state is None:
                found.random_state = state.clone()
            if state.shape == (CUDA_LENGTH,) and "cuda" in str(key) and found.cuda_state is None:
                found.cuda_state = state.clone()


def _optimizer(optimizer: Any, states: list[Mapping[Any, Any]], found: Loaded) -> None:
    """The first whose groups have as many parameters each; it is taken out of the `states`."""
    sizes = [len(group["params"]) for group in optimizer.param_groups]
    if not states:
        found.notes.append("the checkpoint has no state of an optimiser: it begins anew, as after a restart")
        return
    for i, state in enumerate(states):
        try:
            if [len(group["params"]) for group in state["param_groups"]] == sizes:
                optimizer.load_state_dict(state)
                del states[i]
                return
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError):
            continue
    found.notes.append(f"the optimiser's state does not fit groups of {sizes} parameters: it begins anew")


def _part(name: str, part: Any, states: Sequence[Mapping[Any, Any]], found: Loaded) -> None:
    """A scheduler or scaler."""
    if not hasattr(part, "load_state_dict"):
        return
    if not states:
        found.notes.append(f"the checkpoint has no state of a {name}: it begins anew")
        return
    try:
        part.load_state_dict(dict(states[0]))
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        found.notes.append(f"the state of the {name} does not fit ({str(error)[:100]}): it begins anew")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name[:80] for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
