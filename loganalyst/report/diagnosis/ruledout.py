"""What was ruled out, what could not be judged, and what to log next time."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loganalyst.model import Diagnosis, RuledOut
from loganalyst.report.common.wording import clean, count

__all__ = ["JOB_LOG", "Not", "grouped", "joined", "not_logged", "to_log", "words"]

WORDS = {"val": "validation", "grad": "gradient", "recon": "reconstruction"}  # in role names
UNJUDGED = " cannot be judged"
JOB_LOG = "the job log"  # as features name what they need
_ROLE = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
# reasons that differ from rule to rule in nothing a reader asks for
_ALIKE = (
    (re.compile(r"none of its symptoms is seen.*", re.DOTALL), "none of its symptoms is seen"),
    (re.compile(r"the log (?:names no|does not blame) .*", re.DOTALL), "the log has no line of its kind"),
)


@dataclass(frozen=True)
class Not:
    """Causes that share one reason why they are ruled out or cannot be judged; `rival` where they fit what was seen."""

    titles: tuple[str, ...]
    why: str
    rival: bool = False


def grouped(rules: Iterable[RuledOut]) -> tuple[Not, ...]:
    """Rules by their reason: rivals first, then the reason that most share."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for rule in rules:
        groups.setdefault((rule.rival, _why(rule)), []).append(clean(rule.title, 120))
    ranked = sorted(groups.items(), key=lambda g: (not g[0][0], -len(g[1])))
    return tuple(Not(tuple(titles), why, rival) for (rival, why), titles in ranked)


def _why(rule: RuledOut) -> str:
    """Its reason, as short as it tells one cause from another."""
    why = next((short for known, short in _ALIKE if known.fullmatch(rule.why)), rule.why)
    return words(why, 200) if why.startswith("needs ") else clean(why, 200)


def to_log(d: Diagnosis) -> tuple[str, ...]:
    """What to log next time: what the causes miss, then the curves that rules ask for first."""
    deciding = [words(decider.what) for decider in d.decide if decider.kind == "log"]
    missing = [words(m) for c in d.causes for m in c.missing]
    return tuple(dict.fromkeys([*deciding, *missing, *map(words, d.summary.get("not_logged", {}))]))


def words(text: str, limit: int = 400) -> str:
    """A role, or a text that names roles, in plain words: `val_loss` is the validation loss."""
    return clean(_ROLE.sub(lambda role: " ".join(WORDS.get(w, w) for w in role[0].split("_")), text), limit)


def not_logged(d: Diagnosis) -> tuple[str, ...]:
    """What is not logged and what that costs; costs of one kind in one sentence."""
    costs = {words(role): clean(cost) for role, cost in d.summary.get("not_logged", {}).items()}
    told = [f"{role} is not logged: {cost}" for role, cost in costs.items() if not cost.endswith(UNJUDGED)]
    short = {role: cost.removesuffix(UNJUDGED) for role, cost in costs.items() if cost.endswith(UNJUDGED)}
    if short:
        verb = "is" if len(short) == 1 else "are"
        told.append(f"{joined([*short])} {verb} not logged: {joined([*short.values()])}{UNJUDGED}")
    unseen = sum(JOB_LOG in rule.why for rule in d.unknown)
    if unseen and not d.run.lines.height:
        causes = count(unseen, "cause")
        told.append(f"no job log (give it: diagnose RUN LOG): {causes}, such as crashes and lack of memory,{UNJUDGED}")
    return tuple(told)


def joined(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
