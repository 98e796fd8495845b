"""Hypotheses tested one after another, the likeliest first, until one is decided, three are refuted, or time is up."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loganalyst import pipeline
from loganalyst.errors import ReplayError, how_to_install, nearest
from loganalyst.model import Diagnosis, Experiment, Measured, Replay, ReplayEnd, Run
from loganalyst.progressbar import Bar
from loganalyst.replaying import checkpointchoice, forensics, replayprocess, rivalexperiments, verdicts
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.replaychild import Job
from loganalyst.replaying.spec import ReplaySpec
from loganalyst.replaying.userentry import named

if TYPE_CHECKING:
    from loganalyst.diagnosis.confidence import Judged

BUDGET = 300.0  # seconds
SEEDS = 3
REFUTED = 3  # hypotheses in a row that end the search
MORE = 4  # experiments that decide something, made after a cause is confirmed, against its rivals
SURE = 0.9
FREE = 0.9  # share of the free memory that the other process may hold
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
    """Confirm or refute what the logs of a run suggest, from a checkpoint before the fault.

    `entry` names the function that returns the training as a ReplaySpec (`module:function`, `file.py:function`, or the
    function itself); it runs in a process of its own, for at most `budget` seconds and with at most `memory` bytes
    (default: 90 % of what is free). Without it only the checkpoints themselves are looked at. `cause` is the id of the
    only rule to test, `checkpoint` replaces the last one before the fault, `config`, `rules` and
    `trust_run_settings` are those of `diagnose`. Nothing is written.

    Raises ReplayError where the entry or the checkpoint cannot be used, SourceError or RuleError as `diagnose` does.

    >>> import loganalyst as la
    >>> la.replay("fixtures/runs/nan-lr").notes[0]  # docs/replay.md has an entry, which makes experiments
    'the run has no checkpoint that can be read: it is replayed from its start'
    """
    began = time.monotonic()
    name = None if entry is None else named(entry)
    if name is not None and find_spec("torch") is None:
        raise ReplayError("replay", "needs PyTorch", how_to_install("replay"))
    if device not in DEVICES:
        raise ReplayError(device, "is no device", nearest(device, DEVICES) or f"allowed are {', '.join(DEVICES)}")
    trusted = trust_run_settings
    found = (
        run
        if isinstance(run, Diagnosis)
        else pipeline.diagnose(run, config=config, rules=rules, trust_run_settings=trusted)
    )
    search = _Search(found, config, rules, cause)
    picked = checkpointchoice.chosen(found, search.onset, Path(checkpoint) if checkpoint else None)
    inspection = forensics.inspected(picked.path, picked.last)
    search.add(forensics.experiments(inspection, search.stated[forensics.NAME]))
    ready: dict[str, Any] = {}
    if not search.plan:
        what = f"no rule names an experiment for {search.cause}" if search.cause else "no cause has an experiment"
        ended: tuple[ReplayEnd, str] = ("nothing_to_test", what)
    elif name is None:
        ended = ("no_entry", "an entry (--entry module:function) is needed for experiments")
    else:
        limit = int(FREE * replayprocess.free()) if memory is None else memory
        start = str(picked.path) if picked.path else None
        job = Job(name, start, picked.step, search.onset, device, search.symptoms, limit)
        ended = _tested(search, job, ready, replayprocess.Sandbox(name, budget, limit))
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


def _tested(
    search: "_Search", job: Job, ready: dict[str, Any], started: replayprocess.Sandbox
) -> tuple[ReplayEnd, str]:
    """Test the hypotheses in the other process; why it ended. `ready` is filled with what that says of itself."""
    bar = Bar()
    try:
        with started as sandbox:
            ready |= _last(sandbox.ask(asdict(job)), bar)
            return search.run(_Asker(sandbox, bar, ready))
    finally:
        bar.clear()


def _last(answers: Iterator[dict[str, Any]], bar: Bar) -> dict[str, Any]:
    """The last of some answers; those before tell how far it is."""
    found: dict[str, Any] = {}
    for found in answers:
        if found["kind"] == "at":
            bar.show_phase(str(found.get("phase"))[:80], int(found.get("done") or 0), int(found.get("total") or 0))
    return found


@dataclass
class _Asker:
    """Asks the other process for one run of an experiment."""

    sandbox: replayprocess.Sandbox
    bar: Bar
    ready: dict[str, Any]
    random: bool = True  # whether another seed could give something else

    def __call__(self, name: str, seed: int, limits: Mapping[str, float], outcomes: Sequence[str]) -> Measured:
        """What it measured; inconclusive where the user's code raised an error. Raises EndedError where it is gone."""
        try:
            answer = _last(self.sandbox.ask({"experiment": name, "seed": seed, "limits": dict(limits)}), self.bar)
        except replayprocess.EndedError:
            raise
        except ReplayError as error:
            return Measured(INCONCLUSIVE, f"it could not be made: {error}")
        self.ready["notes"], self.random = answer.get("notes", ()), answer.get("random") is not False
        return verdicts.measured(answer.get("measured"), outcomes)


@dataclass
class _Search:
    """What is tested and what was found: `before` and `first` are the judgement of the logs alone, `now` and `every` of
    all so far; `plan` are the rules to test at first.
    """

    found: Diagnosis
    config: Path | None
    rules: Sequence[Path]
    cause: str | None
    experiments: list[Experiment] = field(default_factory=list)
    tested: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stated = pipeline.catalogue().experiments
        self.before, self.first = self.now, self.every = self._judged()
        self.plan = self._planned()
        leading = next((c for c in self.found.causes if self.cause in (None, c.id)), None)
        steps = [s.step for s in self.found.symptoms if s.step is not None]
        first = min(steps, default=None)
        self.onset = first if leading is None or leading.onset_step is None else leading.onset_step
        self.symptoms = tuple(s.id for s in self.found.symptoms)

    def add(self, experiments: Sequence[Experiment]) -> None:
        """Take up what was found, and judge anew."""
        rules = [j.rule for j in self.every.values()]
        self.experiments += verdicts.weighed(experiments, self.stated, rules)
        self.now, self.every = self._judged()

    def run(self, ask: _Asker) -> tuple[ReplayEnd, str]:
        """Test the hypotheses; why it ended."""
        refuted: list[str] = []
        while plan := self._planned():
            rule = plan[0].rule
            try:
                for name in rule.replay:
                    if all(e.name != name for e in self.experiments):
                        self.add([self._made(name, ask)])
            except replayprocess.EndedError as error:
                return ("budget" if "budget" in error.what else "failed"), str(error)
            self.tested.append(rule.id)
            verdict = verdicts.verdict(self.every[rule.id], self.experiments)
            refuted = [*refuted, rule.id] if verdict == "refuted" else [] if verdict == "confirmed" else refuted
            found = self._confirmed()
            if found and (found.confidence > SURE or len(refuted) == REFUTED):
                late = self._against_rivals(ask)
                if (after := self._confirmed()) and (late or after.rule.id == found.rule.id):
                    return "decided", f"{after.rule.title} is confirmed{late}"
                refuted = []  # a rival has taken its place, or it is likely no longer
                continue
            if len(refuted) == REFUTED and (likely := self._undecided()):
                return "all_tried", f"three others in a row are refuted; what tests {likely} decides nothing"
            if len(refuted) == REFUTED:
                return "three_refuted", "three hypotheses in a row are refuted: the cause is of another kind"
        return "all_tried", "every experiment that bears on a likely cause was made"

    def _against_rivals(self, ask: _Asker) -> str:
        """Test what else may be behind the symptoms of a confirmed cause; in words if that could not be done."""
        telling = 0
        while telling < MORE and self.cause is None and (found := self._confirmed()):
            name = rivalexperiments.telling(found, self.every, self.experiments, self.stated)
            if name is None:
                break
            try:
                self.add([self._made(name, ask)])
            except replayprocess.EndedError as error:
                return f"; not all its rivals were tested: {error}"
            telling += self.experiments[-1].outcome != INCONCLUSIVE
        return ""

    def result(self, ended: ReplayEnd, why: str) -> Replay:
        """All that came of it."""
        after, every = self.now, self.every
        refuted = [t for t in self.tested if verdicts.verdict(every[t], self.experiments) == "refuted"]
        more = verdicts.different(refuted, every, after) if ended in ("three_refuted", "all_tried") and refuted else ()
        return Replay(
            before=self.before,
            after=after,
            ended=ended,
            why=why,
            hypotheses=verdicts.hypotheses(self.tested, self.experiments, self.first, every),
            experiments=tuple(self.experiments),
            onset=self.onset,
            learned=verdicts.learned(self.experiments, every),
            next_steps=() if self._confirmed() else more,
        )

    def _confirmed(self) -> "Judged | None":
        """The likeliest root cause that the experiments speak for, whether it was its turn or not."""
        roots = (j for j in self.every.values() if j.seen and j.under is None)
        said = ((j, verdicts.verdict(j, self.experiments)) for j in roots)
        return next((j for j, verdict in said if verdict == "confirmed"), None)

    def _undecided(self) -> str | None:
        """A root cause that the logs all but prove, and that its own experiments left open."""
        tested = (c for c in self.now.causes if c.id in self.tested)
        return next((c.issue for c in tested if min(c.confidence, self.first[c.id].confidence) > SURE), None)

    def _made(self, name: str, ask: _Asker) -> Experiment:
        """An experiment with one seed after another, until two runs agree; with one where nothing is random."""
        stated, runs = self.stated[name], list[Measured]()
        for seed in range(SEEDS):
            runs.append(ask(name, seed, stated.limits, tuple(stated.outcomes)))
            if verdicts.agreed(runs) or not ask.random:
                break
        return verdicts.concluded(stated, runs)

    def _judged(self) -> tuple[Diagnosis, "dict[str, Judged]"]:
        told = verdicts.evidence(self.experiments, self.stated)
        return pipeline.rejudged(self.found, told, config=self.config, rules=self.rules)

    def _planned(self) -> "list[Judged]":
        """Rules not yet tested that have experiments and a symptom seen: root causes first, each by confidence now."""
        if self.cause is not None and self.cause not in self.every:
            raise ReplayError(self.cause, "is no rule", nearest(self.cause, self.every) or "`loganalyst rules list`")
        roots = [c.id for c in self.now.causes]
        fit = [
            j
            for j in self.every.values()
            if j.rule.replay
            and j.rule.id not in self.tested
            and (self.cause == j.rule.id if self.cause else j.seen and not j.rule.benign)
            and j.verdict != "not_applicable"
        ]
        return sorted(fit, key=lambda j: (roots.index(j.rule.id) if j.rule.id in roots else len(roots), -j.confidence))
