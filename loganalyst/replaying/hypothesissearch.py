"""Tests hypotheses in turn, the likeliest first, until one is decided, three are refuted, or time is up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from loganalyst import pipeline
from loganalyst.errors import ReplayError, nearest
from loganalyst.model import Diagnosis, Experiment, Measured, Replay, ReplayEnd
from loganalyst.replaying import replayprocess, rivalexperiments, verdicts
from loganalyst.replaying.experiment import INCONCLUSIVE

if TYPE_CHECKING:
    from loganalyst.diagnosis.judged import Judged

MAX_SEEDS = 3  # runs of an experiment whose steps draw random numbers
MAX_REFUTED_IN_ROW = 3  # refuted hypotheses in a row that end the search
MAX_RIVAL_EXPERIMENTS = 4  # decisive experiments against the rivals of a confirmed cause
DECIDED_CONFIDENCE = 0.9  # confidence above which a confirmed cause ends the search


class Asker(Protocol):
    """Runs an experiment once; `random` says whether another seed may give another result."""

    random: bool

    def __call__(self, name: str, seed: int, limits: Mapping[str, float], outcomes: Sequence[str]) -> Measured:
        """The measurement of one run with one seed."""


@dataclass
class Search:
    """The state of a search: `before` and `first` are the judgement of the logs alone, `now` and `every` the judgement
    with all experiments so far; `plan` lists the rules to test at the start.
    """

    found: Diagnosis
    config: Path | None
    rules: Sequence[Path]
    cause: str | None
    experiments: list[Experiment] = field(default_factory=list)
    tested: list[str] = field(default_factory=list)
    max_rival_experiments: int = MAX_RIVAL_EXPERIMENTS

    def __post_init__(self) -> None:
        self.stated = pipeline.catalogue().experiments
        self.before, self.first = self.now, self.every = self._judge()
        self.plan = self._plan()
        leading = next((c for c in self.found.causes if self.cause in (None, c.id)), None)
        steps = [s.step for s in self.found.symptoms if s.step is not None]
        first = min(steps, default=None)
        self.onset = first if leading is None or leading.onset_step is None else leading.onset_step
        self.symptoms = tuple(s.id for s in self.found.symptoms)

    def add(self, experiments: Sequence[Experiment]) -> None:
        """Add experiments, and judge all causes again."""
        rules = [j.rule for j in self.every.values()]
        self.experiments += verdicts.with_weights(experiments, self.stated, rules)
        self.now, self.every = self._judge()

    def run(self, ask: Asker) -> tuple[ReplayEnd, str]:
        """Test the hypotheses. Returns why the search ended."""
        refuted: list[str] = []
        while plan := self._plan():
            rule = plan[0].rule
            try:
                for name in rule.replay:
                    if all(e.name != name for e in self.experiments):
                        self.add([self._run_experiment(name, ask)])
            except replayprocess.EndedError as error:
                return ("budget" if "budget" in error.what else "failed"), str(error)
            self.tested.append(rule.id)
            verdict = verdicts.verdict(self.every[rule.id], self.experiments)
            refuted = [*refuted, rule.id] if verdict == "refuted" else [] if verdict == "confirmed" else refuted
            found = self._confirmed()
            if found and (found.confidence > DECIDED_CONFIDENCE or len(refuted) == MAX_REFUTED_IN_ROW):
                cut_short = self._test_rivals(ask)
                if (after := self._confirmed()) and (cut_short or after.rule.id == found.rule.id):
                    return "decided", f"{after.rule.title} is confirmed{cut_short}"
                refuted = []  # a rival has taken its place, or the cause is no longer likely
                continue
            if len(refuted) == MAX_REFUTED_IN_ROW and (likely := self._undecided()):
                return "all_tried", f"three others in a row are refuted; the experiments on {likely} decide nothing"
            if len(refuted) == MAX_REFUTED_IN_ROW:
                return "three_refuted", "three hypotheses in a row are refuted: the cause is of another kind"
        return "all_tried", "every experiment that bears on a likely cause has been made"

    def _test_rivals(self, ask: Asker) -> str:
        """Test the rivals of a confirmed cause. Returns a clause that says so if time ran out."""
        decisive = 0
        while decisive < self.max_rival_experiments and self.cause is None and (found := self._confirmed()):
            name = rivalexperiments.most_decisive(found, self.every, self.experiments, self.stated)
            if name is None:
                break
            try:
                self.add([self._run_experiment(name, ask)])
            except replayprocess.EndedError as error:
                return f"; not all its rivals were tested: {error}"
            decisive += self.experiments[-1].outcome != INCONCLUSIVE
        return ""

    def result(self, ended: ReplayEnd, why: str) -> Replay:
        """The result of the replay."""
        after, every = self.now, self.every
        refuted = [t for t in self.tested if verdicts.verdict(every[t], self.experiments) == "refuted"]
        more = verdicts.next_steps(refuted, every, after) if ended in ("three_refuted", "all_tried") and refuted else ()
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
        """The likeliest root cause that the experiments confirm, whether or not it was tested."""
        roots = (j for j in self.every.values() if j.seen and j.under is None)
        return next((j for j in roots if verdicts.verdict(j, self.experiments) == "confirmed"), None)

    def _undecided(self) -> str | None:
        """A root cause that the logs all but prove and that its own experiments left open."""
        tested = (c for c in self.now.causes if c.id in self.tested)
        sure = (c for c in tested if min(c.confidence, self.first[c.id].confidence) > DECIDED_CONFIDENCE)
        return next((c.issue for c in sure), None)

    def _run_experiment(self, name: str, ask: Asker) -> Experiment:
        """Run an experiment with one seed after another until two runs agree; once if nothing is random."""
        stated, runs = self.stated[name], list[Measured]()
        for seed in range(MAX_SEEDS):
            runs.append(ask(name, seed, stated.limits, tuple(stated.outcomes)))
            if verdicts.agreed_outcome(runs) or not ask.random:
                break
        return verdicts.conclude(stated, runs)

    def _judge(self) -> tuple[Diagnosis, "dict[str, Judged]"]:
        evidence = verdicts.evidence(self.experiments, self.stated)
        return pipeline.rejudged(self.found, evidence, config=self.config, rules=self.rules)

    def _plan(self) -> "list[Judged]":
        """Untested rules with experiments and an observed symptom: root causes first, each by current confidence. Those
        of which the logs know nothing, whose probability is the prior one, come last.
        """
        if self.cause is not None and self.cause not in self.every:
            raise ReplayError(self.cause, "is not a rule", nearest(self.cause, self.every) or "`loganalyst rules list`")
        places = {c.id: place for place, c in enumerate(self.now.causes)}
        testable = [
            j
            for j in self.every.values()
            if j.rule.replay
            and j.rule.id not in self.tested
            and (self.cause == j.rule.id if self.cause else j.seen and not j.rule.benign)
            and j.verdict != "not_applicable"
        ]
        return sorted(
            testable, key=lambda j: (places.get(j.rule.id, len(places)), j.verdict == "unknown", -j.confidence)
        )
