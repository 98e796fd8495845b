"""Causes that were ruled out, causes that could not be judged, and what to log next time."""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from loganalyst.model import Diagnosis, RuledOut
from loganalyst.report.common.wording import clean, count

__all__ = ["JOB_LOG", "Excluded", "grouped", "joined", "not_logged", "to_log", "unnamed_metric", "words"]

WORDS = {"val": "validation", "grad": "gradient", "recon": "reconstruction"}  # in role names
WORKED_OUT = ("planned_end", "step_time")  # not of a name of their own, but of several values
UNJUDGED = " cannot be judged"
NAME_IT = 'if one is, say so in loganalyst.yaml, such as `roles: {{"{}": train_loss}}`'
JOB_LOG = "the job log"  # as features name what they need
# A role inside a sentence: `val_loss`, `grad_norm`; not the name of a file, as in `pyspy_rank3.txt`
_ROLE = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?!\.\w)")
_OBJECTIVE = re.compile(r"loss|score|reward|error|cost", re.IGNORECASE)  # as in `recon_loss`
# Reasons that readers take for the same, and the words that replace them
_SAME_REASONS = (
    (re.compile(r"none of its symptoms is seen.*", re.DOTALL), "none of its symptoms is seen"),
    (re.compile(r"the log names no .*", re.DOTALL), "no line of the log names it as the fault"),
)


class Excluded(msgspec.Struct, frozen=True):
    """Causes that are ruled out or cannot be judged for the same reason; `rival` if they fit what was seen."""

    titles: tuple[str, ...]
    why: str
    rival: bool = False


def grouped(rules: Iterable[RuledOut]) -> tuple[Excluded, ...]:
    """Rules grouped by reason: rivals first, then the most common reason."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for rule in rules:
        groups.setdefault((rule.rival, _why(rule)), []).append(clean(rule.title, 120))
    ranked = sorted(groups.items(), key=lambda g: (not g[0][0], -len(g[1])))
    return tuple(Excluded(tuple(titles), why, rival) for (rival, why), titles in ranked)


def _why(rule: RuledOut) -> str:
    """The reason, shortened where the details do not matter."""
    why = next((short for known, short in _SAME_REASONS if known.fullmatch(rule.why)), rule.why)
    return words(why, 200) if why.startswith("needs ") else clean(why, 200)


def to_log(d: Diagnosis) -> tuple[str, ...]:
    """What to log next time: what would decide, what the causes miss, then the missing roles."""
    deciding = [words(decider.what) for decider in d.decide if decider.kind == "log"]
    missing = [words(m) for c in d.causes for m in c.missing]
    return tuple(dict.fromkeys([*deciding, *missing, *map(words, _costs(d))]))


def unnamed_metric(d: Diagnosis) -> str:
    """A metric of a run in which none is known as a loss, score or reward: one whose name says so, else the first one
    of unknown role; empty for other runs.
    """
    if d.summary.get("metrics") or "train_loss" not in d.summary.get("not_logged", {}):
        return ""
    named = [m for m in d.metrics if m.points > 1]
    unknown = any(m.role == "other" for m in named)
    ranked = sorted(named, key=lambda m: (not _OBJECTIVE.search(m.name), m.role != "other"))
    return ranked[0].name if unknown and (ranked[0].role == "other" or _OBJECTIVE.search(ranked[0].name)) else ""


def _costs(d: Diagnosis) -> dict[str, str]:
    """The roles that are not logged, and what each costs; a loss may be among the metrics of unknown role."""
    unknown = {"train_loss", "val_loss"} if unnamed_metric(d) else set[str]()
    return {role: cost for role, cost in d.summary.get("not_logged", {}).items() if role not in unknown}


def words(text: str, limit: int = 400) -> str:
    """A role, or a text that names roles, in plain words: `val_loss` is the validation loss."""
    return clean(_ROLE.sub(lambda role: " ".join(WORDS.get(w, w) for w in role[0].split("_")), text), limit)


def not_logged(d: Diagnosis) -> tuple[str, ...]:
    """What is not logged, and what cannot be judged without it. One sentence for consequences of the same kind.

    A planned end and the time of a step are worked out of several values, some of which may be logged: not known.
    """
    costs = {words(role): clean(cost) for role, cost in _costs(d).items()}
    unnamed = unnamed_metric(d)
    sentences = (
        [f"no metric is known as a loss, score or reward: {NAME_IT.format(clean(unnamed, 40))}"] if unnamed else []
    )
    sentences += [f"{role} is not logged: {cost}" for role, cost in costs.items() if not cost.endswith(UNJUDGED)]
    short = {role: cost.removesuffix(UNJUDGED) for role, cost in costs.items() if cost.endswith(UNJUDGED)}
    worked_out = [role for role in short if role in map(words, WORKED_OUT)]
    sentences += _in_one([role for role in short if role not in worked_out], "logged", short)
    sentences += _in_one(worked_out, "known", short)
    unseen = sum(JOB_LOG in rule.why for rule in d.unknown)
    if unseen and not d.run.lines.height:
        causes = count(unseen, "cause")
        sentences.append(
            f"no job log (give it: diagnose RUN LOG): {causes}, such as crashes and lack of memory,{UNJUDGED}"
        )
    return tuple(sentences)


def _in_one(roles: Sequence[str], state: str, costs: Mapping[str, str]) -> list[str]:
    """A sentence for all roles; none where there are none."""
    verb = "is" if len(roles) == 1 else "are"
    return [f"{joined(roles)} {verb} not {state}: {joined([costs[r] for r in roles])}{UNJUDGED}"] if roles else []


def joined(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
