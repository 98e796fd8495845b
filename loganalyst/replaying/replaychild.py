"""What the other process does: call the user's entry, load the checkpoint, make one experiment after another.

It is told in lines of JSON what to do, and answers in lines of JSON over a pipe of its own: whatever the user's code
prints goes to the parent's ear for the end of a story, not into an answer.
"""

import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from loganalyst.errors import LogAnalystError, ReplayError, how_to_install

EVERY = 0.2  # seconds between two words on how far it is
MARGIN = 20  # steps replayed past the onset
FEWEST, USUAL, MOST = 10, 100, 500  # steps that are replayed: at least, where the onset is not known, at most


@dataclass(frozen=True)
class Job:
    """What a replay is told first. `memory` are bytes that it may hold."""

    entry: str
    checkpoint: str | None
    step: int | None
    onset: int | None
    device: str
    symptoms: tuple[str, ...]
    memory: int


def serve() -> None:
    """Work until nobody asks any more."""
    asked, out = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the user's code may read: nothing
    os.dup2(2, 1)  # and print: elsewhere
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    say = _Voice(out)
    bench: Any = None
    for line in asked:
        order = json.loads(line)
        try:
            if bench is None:
                bench = _bench(Job(**order), say)
                say("ready", device=str(bench.device), start=bench.start, steps=bench.steps, notes=bench.notes)
            else:
                say("measured", measured=asdict(_measured(bench, say, **order)), notes=bench.notes, random=bench.random)
        except LogAnalystError as error:
            say("error", where=error.where, what=error.what, allowed=error.allowed)
        except BaseException as error:  # the user's code may raise anything, SystemExit too
            say("error", **_raised(error))


class _Voice:
    """One line of JSON an answer; words on how far it is, not too often."""

    def __init__(self, out: IO[str]) -> None:
        self._out, self._last, self._phase = out, 0.0, ""

    def __call__(self, kind: str, **fields: Any) -> None:
        self._out.write(json.dumps({"kind": kind, **fields}) + "\n")
        self._out.flush()

    def at(self, phase: str) -> None:
        """What is being done."""
        self._phase = phase
        self("at", phase=phase, done=0, total=0)

    def steps(self, done: int, total: int) -> None:
        """How far its steps are."""
        if time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            self("at", phase=self._phase, done=done, total=total)


def _bench(job: Job, say: _Voice) -> Any:
    from loganalyst.replaying import userentry as entry

    say.at(f"calling {job.entry}")
    spec = entry.call(job.entry)
    torch = _torch()
    from loganalyst.replaying import stateloading
    from loganalyst.replaying.bench import Bench

    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    loaded = stateloading.Loaded()
    say.at("loading the checkpoint")
    if job.checkpoint:
        need = stateloading.needed(Path(job.checkpoint), spec)
        device, notes = _device(torch, job, need)
        loaded = stateloading.load(Path(job.checkpoint), spec)
    else:
        device, notes = _device(torch, job, 0)
    spec.model.to(device)
    _follow(spec.optimizer, device)
    start = _start(job, loaded.step)
    steps = _steps(start, job.onset, notes)
    return Bench(
        spec,
        device,
        start,
        job.onset,
        steps,
        job.symptoms,
        notes=[*loaded.notes, *notes],
        random_state=loaded.random_state,
        cuda_state=loaded.cuda_state,
        told=say.steps,
    )


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ReplayError("replay", "needs PyTorch", how_to_install("replay")) from None
    return torch


def _device(torch: Any, job: Job, need: int) -> tuple[Any, list[str]]:
    """Where it runs: as asked, as far as it has room."""
    if need > job.memory:
        what = f"needs at least {need / 1e9:.1f} GB of memory, and may take {job.memory / 1e9:.1f} GB"
        raise ReplayError("replay", what, "a machine with more memory, or --memory")
    if job.device == "cpu" or not torch.cuda.is_available():
        if job.device == "cuda":
            raise ReplayError("--device cuda", "there is no CUDA device that PyTorch can use", "auto or cpu")
        return torch.device("cpu"), []
    free = torch.cuda.mem_get_info()[0]
    if need > free:
        note = f"the GPU has {free / 1e9:.1f} GB free, and at least {need / 1e9:.1f} are needed: it runs on the CPU"
        return torch.device("cpu"), [note]
    return torch.device("cuda"), []


def _follow(optimizer: Any, device: Any) -> None:
    """The optimiser's state where its parameters are."""
    for state in optimizer.state.values():
        for name, value in state.items():
            if hasattr(value, "untyped_storage") and value.dim():
                state[name] = value.to(device)


def _start(job: Job, told: int | None) -> int:
    """How many steps were done at the checkpoint: as it tells itself, else as the run's files are named."""
    return next((step for step in (told, job.step) if step is not None), 0)


def _steps(start: int, onset: int | None, notes: list[str]) -> int:
    if onset is None or onset < start:
        return USUAL
    if onset - start > MOST:
        notes.append(f"the fault is {onset - start:,} steps after the checkpoint; {MOST} are replayed")
    return min(max(onset - start + MARGIN, FEWEST), MOST)


def _measured(bench: Any, say: _Voice, experiment: str, seed: int, limits: Mapping[str, float]) -> Any:
    from loganalyst.replaying.experiment import find

    say.at(f"{experiment}, seed {seed}")
    bench.limits = limits
    return find(experiment)(bench, seed)


def _raised(error: BaseException) -> dict[str, str]:
    """What the user's code raised, and the line of it."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "loganalyst" not in f.filename and "/torch/" not in f.filename] or frames
    place = f"{own[-1].filename}:{own[-1].lineno}" if own else "the entry"
    text = f"{type(error).__name__}: {str(error)[:400]}" if str(error) else type(error).__name__
    return {"where": place, "what": f"raised {text}", "allowed": ""}


def _end_with(parent: int) -> None:
    """End where the one who asks has gone, whatever the user's code is at."""
    while os.getppid() == parent:
        time.sleep(1)
    with suppress(OSError):
        os._exit(1)
