"""Verdicts on causes: outcomes become evidence, causes are judged again, and the results are summarised."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loganalyst import pipeline
from loganalyst.errors import ReplayError
from loganalyst.model import Diagnosis, Evidence, Experiment, Hypothesis, HypothesisVerdict, Measured
from loganalyst.replaying import forensics
from loganalyst.replaying.experiment import INCONCLUSIVE

if TYPE_CHECKING:
    from loganalyst.diagnosis.judged import Judged
    from loganalyst.diagnosis.rule import ExperimentRule, Rule

MAX_VALUES, MAX_SERIES, MAX_SERIES_POINTS = 100, 20, 5_000
MAX_TEXT = 1_000  # characters of a text that are kept
MAX_NAMED = 3  # causes named in a sentence
MIN_CONFIDENCE = 0.5  # a cause that experiments support is confirmed only if it is likelier than not
MIN_WEIGHT = 1.0  # log-likelihood ratio that confirms or refutes; a smaller one only moves the confidence

Stated = Mapping[str, "ExperimentRule"]
Every = Mapping[str, "Judged"]


def checked_measurement(data: Any, outcomes: Iterable[str]) -> Measured:
    """The measurement that another process sent, checked. Raises ReplayError if it is malformed."""
    fields = data if isinstance(data, dict) else {}
    outcome, text, reproduced = fields.get("outcome"), fields.get("text"), fields.get("reproduced")
    values, series, start = fields.get("values"), fields.get("series"), fields.get("start")
    valid = (
        outcome in (*outcomes, INCONCLUSIVE)
        and isinstance(text, str)
        and reproduced in (True, False, None)
        and isinstance(values, dict)
        and len(values) <= MAX_VALUES
        and all(v is None or isinstance(v, (int, float, str)) for v in values.values())
        and isinstance(series, dict)
        and len(series) <= MAX_SERIES
        and all(isinstance(s, list) and len(s) <= MAX_SERIES_POINTS for s in series.values())
        and all(isinstance(v, (int, float)) for s in series.values() for v in s)
        and type(start) is int
    )
    if not valid:
        raise ReplayError("replay", f"an experiment returned an invalid result: {str(data)[:200]}")
    scalars = {str(k)[:200]: v[:MAX_TEXT] if isinstance(v, str) else v for k, v in values.items()}  # type: ignore[union-attr]
    lists = {str(k)[:200]: tuple(map(float, s)) for k, s in series.items()}  # type: ignore[union-attr]
    return Measured(str(outcome), str(text)[:MAX_TEXT], reproduced, scalars, lists, int(start or 0))


def agreed_outcome(runs: Sequence[Measured]) -> str | None:
    """The outcome that two runs share; None if no two agree."""
    counted = Counter(run.outcome for run in runs).most_common(1)
    return counted[0][0] if counted and counted[0][1] > 1 else None


def conclude(stated: "ExperimentRule", runs: Sequence[Measured]) -> Experiment:
    """An experiment from its runs. If several runs disagree, it is inconclusive."""
    outcome = agreed_outcome(runs) or (runs[0].outcome if len(runs) == 1 else INCONCLUSIVE)
    text = next((run.text for run in runs if run.outcome == outcome), "its runs disagree")
    means = {name: found.means for name, found in stated.outcomes.items()}
    return Experiment(stated.id, stated.question, means, outcome, text, tuple(runs))


def with_weights(experiments: Iterable[Experiment], stated: Stated, rules: Iterable["Rule"]) -> tuple[Experiment, ...]:
    """The experiments with the log-likelihood ratio of their outcome for each rule that it bears on."""
    known = list(rules)
    return tuple(
        replace(e, weights={r.id: w for r in known if (w := stated[e.name].weight(r, e.outcome))}) for e in experiments
    )


def evidence(experiments: Iterable[Experiment], stated: Stated) -> dict[str, list[Evidence]]:
    """The experiments as evidence, by rule."""
    found: dict[str, list[Evidence]] = {}
    for e in experiments:
        steps = [s for run in e.runs if (s := _step(run)) is not None]
        group = f"{stated[e.name].group} {e.outcome}" if e.name == forensics.NAME else stated[e.name].group
        for rule, weight in e.weights.items():
            item = Evidence(
                f"replay-{e.name}",
                "direct",
                weight > 0,
                f"replay: {e.text}",
                weight,
                group,
                step=min(steps, default=None),
            )
            found.setdefault(rule, []).append(item)
    return found


def _step(run: Measured) -> int | None:
    step = run.values.get("step")
    return step if isinstance(step, int) else None


def total_weight(rule: str, experiments: Iterable[Experiment]) -> float:
    """The sum of the log-likelihood ratios of all experiments for a rule."""
    return sum(e.weights.get(rule, 0.0) for e in experiments)


def verdict(judged: "Judged", experiments: Iterable[Experiment]) -> HypothesisVerdict:
    """Whether the experiments confirm a cause that is now likely, or refute it."""
    weight = total_weight(judged.rule.id, experiments)
    likely = judged.verdict == "likely" and judged.confidence >= MIN_CONFIDENCE
    return "refuted" if weight <= -MIN_WEIGHT else "confirmed" if weight >= MIN_WEIGHT and likely else "open"


def hypotheses(
    tested: Iterable[str], experiments: Sequence[Experiment], before: Every, after: Every
) -> tuple[Hypothesis, ...]:
    """Causes that were tested, or that have an observed symptom and a weight in an experiment; in their new order."""
    tested_ids = set(tested)
    weighted = {rule for e in experiments for rule in e.weights if before[rule].seen}
    chosen = [id_ for id_ in after if (id_ in tested_ids | weighted) and after[id_].verdict != "not_applicable"]
    return tuple(_hypothesis(id_, experiments, before, after) for id_ in chosen)


def _hypothesis(id_: str, experiments: Sequence[Experiment], before: Every, after: Every) -> Hypothesis:
    rule, sure = after[id_].rule, after[id_].confidence
    return Hypothesis(
        id=id_,
        label=rule.label,
        issue=rule.title,
        before=before[id_].confidence,
        after=sure,
        band=pipeline.band(sure),
        verdict=verdict(after[id_], experiments),
        under=after[id_].under,
        experiments=tuple(dict.fromkeys(e.name for e in experiments if id_ in e.weights)),
    )


def learned(experiments: Iterable[Experiment], every: Every) -> tuple[str, ...]:
    """What each decisive experiment showed."""
    directions = ((e, list(_for_and_against(e, every))) for e in experiments)
    return tuple(f"{e.means[e.outcome]}: this speaks {' and '.join(words)}" for e, words in directions if words)


def _for_and_against(e: Experiment, every: Every) -> Iterator[str]:
    """The causes with observed symptoms that an experiment speaks for and against, by weight."""
    seen = sorted((r for r in e.weights if every[r].seen), key=lambda r: -abs(e.weights[r]))
    for word, way in (("for", 1), ("against", -1)):
        titles = [every[r].rule.title for r in seen if e.weights[r] * way > 0]
        if titles:
            yield f"{word} {', '.join(titles[:MAX_NAMED])}"


def next_steps(refuted: Sequence[str], every: Every, after: Diagnosis) -> tuple[str, ...]:
    """What to try after refuted hypotheses: causes of other families for the same symptoms, and values to log."""
    families = {every[id_].rule.family for id_ in refuted}
    symptoms = {symptom for id_ in refuted for symptom in every[id_].seen}
    others = [
        j.rule
        for j in every.values()
        if j.rule.family not in families
        and symptoms & set(j.seen)
        and not j.rule.benign
        and j.verdict != "not_applicable"
    ]
    titles = ", ".join(rule.title for rule in others[:MAX_NAMED])
    families_hint = [f"look outside of {', '.join(sorted(families))}: {titles}"] if others else []
    return (*families_hint, *(f"log {d.what}" if d.kind == "log" else d.what for d in after.decide))
