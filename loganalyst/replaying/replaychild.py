"""The work of the other process: call the user's entry, load the checkpoint, run one experiment after another.

It receives orders as lines of JSON and answers in lines of JSON over its own pipe. Output of the user's code goes to
standard error, whose last lines the parent keeps for error messages, and never into an answer.
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

PROGRESS_INTERVAL = 0.2  # seconds between two reports of progress
STEPS_PAST_ONSET = 20  # steps replayed after the onset
MIN_STEPS, MAX_STEPS = 10, 500  # steps that are replayed
DEFAULT_STEPS = 100  # steps that are replayed if the onset is not known


@dataclass(frozen=True)
class Job:
    """The first order of a replay. `memory` is the number of bytes that it may hold."""

    entry: str
    checkpoint: str | None
    step: int | None
    onset: int | None
    device: str
    symptoms: tuple[str, ...]
    memory: int


def serve() -> None:
    """Answer orders until the pipe closes."""
    asked, out = os.fdopen(os.dup(0), "r", encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # if the user's code reads, it gets nothing
    os.dup2(2, 1)  # if it prints, the output goes to standard error
    threading.Thread(target=_exit_with, args=(os.getppid(),), daemon=True).start()
    answer = _Answers(out)
    bench: Any = None
    for line in asked:
        order = json.loads(line)
        try:
            if bench is None:
                bench = _make_bench(Job(**order), answer)
                answer("ready", device=str(bench.device), start=bench.start, steps=bench.steps, notes=bench.notes)
            else:
                measured = asdict(_run_experiment(bench, answer, **order))
                answer("measured", measured=measured, notes=bench.notes, random=bench.random)
        except LogAnalystError as error:
            answer("error", where=error.where, what=error.what, allowed=error.allowed)
        except BaseException as error:  # the user's code may raise anything, even SystemExit
            answer("error", **_user_error(error))


class _Answers:
    """Writes one line of JSON per answer, and reports progress at intervals."""

    def __init__(self, out: IO[str]) -> None:
        self._out, self._last, self._phase = out, 0.0, ""

    def __call__(self, kind: str, **fields: Any) -> None:
        self._out.write(json.dumps({"kind": kind, **fields}) + "\n")
        self._out.flush()

    def at(self, phase: str) -> None:
        """Report the start of a phase."""
        self._phase = phase
        self("at", phase=phase, done=0, total=0)

    def steps(self, done: int, total: int) -> None:
        """Report the progress of its steps."""
        if time.monotonic() - self._last > PROGRESS_INTERVAL:
            self._last = time.monotonic()
            self("at", phase=self._phase, done=done, total=total)


def _make_deterministic(torch: Any) -> None:
    """Let the same experiment give the same numbers again, where torch can."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False


def _make_bench(job: Job, answer: _Answers) -> Any:
    from loganalyst.replaying import userentry

    answer.at(f"calling {job.entry}")
    spec = userentry.call(job.entry)
    torch = _torch()
    from loganalyst.replaying import stateloading
    from loganalyst.replaying.bench import Bench

    _make_deterministic(torch)
    answer.at("loading the checkpoint")
    path, loaded = Path(job.checkpoint or ""), stateloading.Loaded()
    device, notes = _device(torch, job, stateloading.needed_memory(path, spec) if job.checkpoint else 0)
    if job.checkpoint:
        loaded = stateloading.load(path, spec)
    spec.model.to(device)
    _move_state(spec.optimizer, device)
    start = next((step for step in (loaded.step, job.step) if step is not None), 0)
    steps = _step_count(start, job.onset, notes)
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
        on_step=answer.steps,
    )


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ReplayError("replay", "needs PyTorch", how_to_install("replay")) from None
    return torch


def _device(torch: Any, job: Job, need: int) -> tuple[Any, list[str]]:
    """The device asked for, if it has enough memory."""
    if need > job.memory:
        what = f"needs at least {need / 1e9:.1f} GB of memory; {job.memory / 1e9:.1f} GB are allowed"
        raise ReplayError("replay", what, "a machine with more memory, or --memory")
    if job.device == "cpu" or not torch.cuda.is_available():
        if job.device == "cuda":
            raise ReplayError("--device cuda", "PyTorch finds no CUDA device", "auto or cpu")
        return torch.device("cpu"), []
    free = torch.cuda.mem_get_info()[0]
    if need > free:
        note = f"the GPU has {free / 1e9:.1f} GB free, at least {need / 1e9:.1f} GB are needed: the CPU is used"
        return torch.device("cpu"), [note]
    return torch.device("cuda"), []


def _move_state(optimizer: Any, device: Any) -> None:
    """Move the optimiser's state to the device of its parameters."""
    for state in optimizer.state.values():
        for name, value in state.items():
            if hasattr(value, "untyped_storage") and value.dim():
                state[name] = value.to(device)


def _step_count(start: int, onset: int | None, notes: list[str]) -> int:
    if onset is None or onset < start:
        return DEFAULT_STEPS
    if onset - start > MAX_STEPS:
        notes.append(f"the fault is {onset - start:,} steps after the checkpoint; {MAX_STEPS} steps are replayed")
    return min(max(onset - start + STEPS_PAST_ONSET, MIN_STEPS), MAX_STEPS)


def _run_experiment(bench: Any, answer: _Answers, experiment: str, seed: int, limits: Mapping[str, float]) -> Any:
    from loganalyst.replaying.experiment import find

    answer.at(f"{experiment}, seed {seed}")
    bench.limits = limits
    return find(experiment)(bench, seed)


def _user_error(error: BaseException) -> dict[str, str]:
    """The error of the user's code, and its line."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [f for f in frames if "loganalyst" not in f.filename and "/torch/" not in f.filename] or frames
    place = f"{user_frames[-1].filename}:{user_frames[-1].lineno}" if user_frames else "the entry"
    text = f"{type(error).__name__}: {str(error)[:400]}" if str(error) else type(error).__name__
    return {"where": place, "what": f"raised {text}", "allowed": ""}


def _exit_with(parent: int) -> None:
    """End the process when the parent is gone, whatever the user's code does."""
    while os.getppid() == parent:
        time.sleep(1)
    with suppress(OSError):
        os._exit(1)
