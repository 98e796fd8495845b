"""Replays a run: choose a checkpoint, start the user's entry in another process, and search for the cause."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from loganalyst import pipeline
from loganalyst.errors import ReplayError, how_to_install, nearest
from loganalyst.model import Diagnosis, Measured, Replay, ReplayEnd, Run
from loganalyst.progressbar import Bar
from loganalyst.replaying import checkpointchoice, forensics, processmemory, replayprocess, verdicts
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.hypothesissearch import Search
from loganalyst.replaying.replaychild import Job
from loganalyst.replaying.spec import ReplaySpec
from loganalyst.replaying.userentry import entry_name

BUDGET = 300.0  # seconds
FREE_MEMORY_SHARE = 0.9  # of the free memory, for the other process
DEVICES = ("auto", "cuda", "cpu")


def replay(
    run: str | Path | Run | Diagnosis,
    entry: str | Callable[[], ReplaySpec] | None = None,
    *,
    checkpoint: str | Path | None = None,
    device: str = "auto",
    cause: str | None = None,
    budget: float = BUDGET,
    memory: int | None = None,
    config: Path | None = None,
    rules: Sequence[Path] = (),
    trust_run_settings: bool = False,
) -> Replay:
    """Confirm or refute the causes that the logs of a run suggest, from a checkpoint before the fault.

    `entry` names the function that returns the training as a ReplaySpec: `module:function`, `file.py:function`, or the
    function itself. It runs in its own process, for at most `budget` seconds and with at most `memory` bytes (default:
    90 % of the free memory). Without an entry only the checkpoints are inspected. `cause` is the id of the only rule to
    test. `checkpoint` replaces the last one before the fault. `config`, `rules` and `trust_run_settings` are those of
    `diagnose`. Nothing is written.

    Raises ReplayError if the entry or the checkpoint cannot be used, SourceError or RuleError as `diagnose` does.


    >>> import loganalyst as la
    >>> la.replay("fixtures/runs/nan-lr").notes[0]  # docs/replay.md has an entry, which makes experiments
    'the run has no readable checkpoint: the replay begins at its start'
    """
    began = time.monotonic()
    name = None if entry is None else entry_name(entry)
    _refuse(name, device)
    if not isinstance(run, Diagnosis):
        run = pipeline.diagnose(run, config=config, rules=rules, trust_run_settings=trust_run_settings)
    search = Search(run, config, rules, cause)
    picked = checkpointchoice.choose(run, search.onset, Path(checkpoint) if checkpoint else None)
    inspection = forensics.inspect_checkpoints(picked.path, picked.last)
    search.add(forensics.as_experiments(inspection, search.stated[forensics.NAME]))
    ready: dict[str, Any] = {}
    ended = _experiments(search, name, picked, ready, device=device, budget=budget, memory=memory)
    return replace(
        search.result(*ended),
        entry=name,
        checkpoint=picked.path,
        step=ready.get("start", picked.step),
        device=ready.get("device"),
        seconds=time.monotonic() - began,
        notes=(*picked.notes, *map(str, ready.get("notes", ()))),
        inspection=inspection,
    )


def _refuse(name: str | None, device: str) -> None:
    """Raise ReplayError for an entry that cannot run here, and for an unknown device."""
    if name is not None and find_spec("torch") is None:
        raise ReplayError("replay", "needs PyTorch", how_to_install("replay"))
    if device not in DEVICES:
        raise ReplayError(device, "is not a device", nearest(device, DEVICES) or f"allowed are {', '.join(DEVICES)}")


def _experiments(
    search: Search,
    name: str | None,
    picked: checkpointchoice.Choice,
    ready: dict[str, Any],
    *,
    device: str,
    budget: float,
    memory: int | None,
) -> tuple[ReplayEnd, str]:
    """Make the planned experiments, if there are any and an entry. Returns why they ended; `ready` as `_run_search`."""
    if not search.plan:
        what = f"no rule names an experiment for {search.cause}" if search.cause else "no cause has an experiment"
        return "nothing_to_test", what
    if name is None:
        return "no_entry", "an entry (--entry module:function) is needed for experiments"
    limit = int(FREE_MEMORY_SHARE * processmemory.free_memory()) if memory is None else memory
    start = str(picked.path) if picked.path else None
    job = Job(name, start, picked.step, search.onset, device, search.symptoms, limit)
    return _run_search(search, job, ready, replayprocess.Sandbox(name, budget, limit))


def _run_search(
    search: Search, job: Job, ready: dict[str, Any], started: replayprocess.Sandbox
) -> tuple[ReplayEnd, str]:
    """Test the hypotheses in the other process. Returns why it ended; `ready` receives what the process reports."""
    bar = Bar()
    try:
        with started as sandbox:
            ready |= _last_answer(sandbox.ask(asdict(job)), bar)
            return search.run(_Asker(sandbox, bar, ready))
    finally:
        bar.clear()


def _last_answer(answers: Iterator[dict[str, Any]], bar: Bar) -> dict[str, Any]:
    """The last of some answers; those before it report progress."""
    answer: dict[str, Any] = {}
    for answer in answers:
        if answer["kind"] == "at":
            bar.show_phase(str(answer.get("phase"))[:80], int(answer.get("done") or 0), int(answer.get("total") or 0))
    return answer


@dataclass
class _Asker:
    """Asks the other process for one run of an experiment."""

    sandbox: replayprocess.Sandbox
    bar: Bar
    ready: dict[str, Any]
    random: bool = True  # whether another seed may give another result

    def __call__(self, name: str, seed: int, limits: Mapping[str, float], outcomes: Sequence[str]) -> Measured:
        """The measurement; inconclusive if the user's code failed. Raises EndedError if the process is gone."""
        try:
            answer = _last_answer(
                self.sandbox.ask({"experiment": name, "seed": seed, "limits": dict(limits)}), self.bar
            )
        except replayprocess.EndedError:
            raise
        except ReplayError as error:
            return Measured(INCONCLUSIVE, f"it failed: {error}")
        self.ready["notes"], self.random = answer.get("notes", ()), answer.get("random") is not False
        return verdicts.checked_measurement(answer.get("measured"), outcomes)
