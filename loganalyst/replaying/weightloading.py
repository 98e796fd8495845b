"""Loads the weights of a checkpoint into the user's model, under the names that fit it best."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loganalyst.checkpoint.tensorblocks import Stored
from loganalyst.errors import ReplayError, nearest

MAX_NAMED = 3  # names in a sentence


def load(path: Path, tensors: Sequence[Stored], model: Any) -> list[str]:
    """Load the tensors that fit; the notes name all others. Raises ReplayError if none fits."""
    import torch

    wanted = model.state_dict()
    named = _rename_to_fit({t.name: t for t in tensors}, wanted)
    fits = {name: t for name, t in named.items() if name in wanted and t.shape == tuple(wanted[name].shape)}
    if not fits:
        first = next(iter(named), "nothing")
        what = f"none of its {len(named)} tensors fits the model of the entry, which has {len(wanted)}"
        hint = nearest(first, wanted) or f"the model's are named like {next(iter(wanted), 'nothing')!r}"
        raise ReplayError(path, f"{what} (it has {first[:80]!r})", hint)
    model.load_state_dict({name: in_memory(stored) for name, stored in fits.items()}, strict=False)
    reshaped = [name for name in named if name in wanted and name not in fits]
    tied = {id(value): name for name, value in wanted.items() if name in fits and torch.is_tensor(value)}
    missing = [
        n for n, value in wanted.items() if n not in named and id(value) not in tied and not _is_shared(n, model)
    ]
    extra = [name for name in named if name not in wanted]
    misfits = ((missing, "missing"), (extra, "not in the model"), (reshaped, "of another shape"))
    return [f"{len(names)} tensors of the checkpoint are {what}: {_listed(names)}" for names, what in misfits if names]


def _is_shared(name: str, model: Any) -> bool:
    """Whether the parameter is another one under a second name; it is then loaded with that one."""
    every = dict(model.named_parameters(remove_duplicate=False))
    return name in every and sum(p is every[name] for p in every.values()) > 1


def _rename_to_fit(tensors: Mapping[str, Stored], wanted: Mapping[str, Any]) -> dict[str, Stored]:
    """The tensors under the names that fit the model best: unchanged, without a prefix such as `module.`, or with the
    prefix of the model's own names.
    """
    prefixes = {""} | {".".join(name.split(".")[:n]) + "." for name in tensors for n in (1, 2) if name.count(".") >= n}
    model_prefixes = {name.split(".")[0] + "." for name in wanted if "." in name}
    candidates = [{n.removeprefix(p): t for n, t in tensors.items() if n.startswith(p)} for p in sorted(prefixes)]
    candidates += [{p + n: t for n, t in tensors.items()} for p in sorted(model_prefixes)]

    def score(candidate: Mapping[str, Stored]) -> int:
        return sum(t.shape == tuple(wanted[n].shape) for n, t in candidate.items() if n in wanted)

    return max(candidates, key=score)


def in_memory(stored: Stored) -> Any:
    """The stored tensor as a torch tensor."""
    import torch

    dtype = getattr(torch, stored.dtype)
    out = torch.empty(stored.shape, dtype=dtype)
    flat, done = out.view(-1), 0
    for block in stored.raw():
        piece = torch.from_numpy(block.copy())
        flat[done : done + len(block)] = piece if piece.dtype == dtype else piece.view(dtype)
        done += len(block)
    return out


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name[:80] for name in names[:MAX_NAMED])
    return shown + (f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else "")
