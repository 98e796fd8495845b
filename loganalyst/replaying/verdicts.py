"""What experiments say of causes: their outcomes become evidence, the causes are judged anew, and what is learned."""

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
    from loganalyst.diagnosis.confidence import Judged
    from loganalyst.diagnosis.rule import ExperimentRule, Rule

MOST_VALUES, MOST_SERIES, LONGEST_SERIES = 100, 20, 5_000
LONGEST = 1_000  # characters of a text
NAMED = 3  # causes in a sentence
LIKELY = 0.5  # what experiments speak for is confirmed only where it is likelier than not
SAYS = 1.0  # log-likelihood ratio from which experiments confirm or refute; less moves the confidence alone

Stated = Mapping[str, "ExperimentRule"]
Every = Mapping[str, "Judged"]


def measured(data: Any, outcomes: Iterable[str]) -> Measured:
    """What another process says it measured, checked. Raises ReplayError where it is nothing that could be."""
    fields = data if isinstance(data, dict) else {}
    outcome, text, reproduced = fields.get("outcome"), fields.get("text"), fields.get("reproduced")
    values, series, start = fields.get("values"), fields.get("series"), fields.get("start")
    sound = (
        outcome in (*outcomes, INCONCLUSIVE)
        and isinstance(text, str)
        and reproduced in (True, False, None)
        and isinstance(values, dict)
        and len(values) <= MOST_VALUES
        and all(v is None or isinstance(v, (int, float, str)) for v in values.values())
        and isinstance(series, dict)
        and len(series) <= MOST_SERIES
        and all(isinstance(s, list) and len(s) <= LONGEST_SERIES for s in series.values())
        and all(isinstance(v, (int, float)) for s in series.values() for v in s)
        and type(start) is int
    )
    if not sound:
        raise ReplayError("replay", f"an experiment gave what is no result: {str(data)[:200]}")
    shown = {str(k)[:200]: v[:LONGEST] if isinstance(v, str) else v for k, v in values.items()}  # type: ignore[union-attr]
    lists = {str(k)[:200]: tuple(map(float, s)) for k, s in series.items()}  # type: ignore[union-attr]
    return Measured(str(outcome), str(text)[:LONGEST], reproduced, shown, lists, int(start or 0))


def agreed(runs: Sequence[Measured]) -> str | None:
    """The outcome that two runs share; None where none does yet."""
    counted = Counter(run.outcome for run in runs).most_common(1)
    return counted[0][0] if counted and counted[0][1] > 1 else None


def concluded(stated: "ExperimentRule", runs: Sequence[Measured]) -> Experiment:
    """An experiment from its runs. What only one run found, where others found something else, decides nothing."""
    outcome = agreed(runs) or (runs[0].outcome if len(runs) == 1 else INCONCLUSIVE)
    text = next((run.text for run in runs if run.outcome == outcome), "its runs do not agree")
    means = {name: found.means for name, found in stated.outcomes.items()}
    return Experiment(stated.id, stated.question, means, outcome, text, tuple(runs))


def weighed(experiments: Iterable[Experiment], stated: Stated, rules: Iterable["Rule"]) -> tuple[Experiment, ...]:
    """The experiments with the log-likelihood ratios that their outcomes have for each rule they bear on."""
    known = list(rules)
    return tuple(
        replace(e, weights={r.id: w for r in known if (w := stated[e.name].weight(r, e.outcome))}) for e in experiments
    )


def evidence(experiments: Iterable[Experiment], stated: Stated) -> dict[str, list[Evidence]]:
    """What the experiments say, by rule."""
    found: dict[str, list[Evidence]] = {}
    for e in experiments:
        steps = [s for run in e.runs if (s := _step(run)) is not None]
        group = f"{stated[e.name].group} {e.outcome}" if e.name == forensics.NAME else stated[e.name].group
        for rule, weight in e.weights.items():
            told = Evidence(
                f"replay-{e.name}",
                "direct",
                weight > 0,
                f"replay: {e.text}",
                weight,
                group,
                step=min(steps, default=None),
            )
            found.setdefault(rule, []).append(told)
    return found


def _step(run: Measured) -> int | None:
    step = run.values.get("step")
    return step if isinstance(step, int) else None


def said(rule: str, experiments: Iterable[Experiment]) -> float:
    """What the experiments, all together, say of a rule: a log-likelihood ratio."""
    return sum(e.weights.get(rule, 0.0) for e in experiments)


def verdict(judged: "Judged", experiments: Iterable[Experiment]) -> HypothesisVerdict:
    """Whether the experiments speak for a cause that is likely now, or against it."""
    weight, likely = said(judged.rule.id, experiments), judged.verdict == "likely" and judged.confidence >= LIKELY
    return "refuted" if weight <= -SAYS else "confirmed" if weight >= SAYS and likely else "open"


def hypotheses(
    tested: Iterable[str], experiments: Sequence[Experiment], before: Every, after: Every
) -> tuple[Hypothesis, ...]:
    """Causes that were tested, or of which a symptom is seen and an experiment says something; in their new order."""
    asked = set(tested)
    touched = {rule for e in experiments for rule in e.weights if before[rule].seen}
    chosen = [id_ for id_ in after if (id_ in asked | touched) and after[id_].verdict != "not_applicable"]
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
    """What each experiment that decided something showed."""
    found = ((e, list(_says(e, every))) for e in experiments)
    return tuple(f"{e.means[e.outcome]}: this speaks {' and '.join(says)}" for e, says in found if says)


def _says(e: Experiment, every: Every) -> Iterator[str]:
    """For and against which causes of symptoms seen, the heaviest first."""
    seen = sorted((r for r in e.weights if every[r].seen), key=lambda r: -abs(e.weights[r]))
    for word, way in (("for", 1), ("against", -1)):
        titles = [every[r].rule.title for r in seen if e.weights[r] * way > 0]
        if titles:
            yield f"{word} {', '.join(titles[:NAMED])}"


def different(refuted: Sequence[str], every: Every, after: Diagnosis) -> tuple[str, ...]:
    """What to try where three hypotheses failed: causes of other families for the same symptoms, and what to log."""
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
    titles = ", ".join(rule.title for rule in others[:NAMED])
    told = [f"look outside of {', '.join(sorted(families))}: {titles}"] if others else []
    return (*told, *(f"log {d.what}" if d.kind == "log" else d.what for d in after.decide))
