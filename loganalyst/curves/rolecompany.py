"""The company that a role needs: a reward has an agent, a discriminator has a generator (`rules/roles.yaml`)."""

from collections.abc import Iterable, Sequence, Set

from loganalyst.curves.metricnames import normalise
from loganalyst.curves.roleclaims import Claim, Claims, claim, confirmed, doubted
from loganalyst.curves.rolefile import Company, role_file
from loganalyst.model import OF_FILE
from loganalyst.namewords import word_file


def changes(claims: Claims, settings: Iterable[str]) -> Claims:
    """The metrics whose role needs company: surer with it, unsure or of another role without it. `settings` are the
    dotted keys of the run's settings.
    """
    asked = [metric for metric, found in claims.items() if _needs(found)]
    if not asked:
        return {}
    seen = {word for metric in claims for word in _words(metric)}
    seen |= {key.rpartition(".")[2].lower() for key in settings}
    roles = {found.role.name for found in claims.values()}
    return {metric: _judged(_words(metric), claims[metric], roles, seen) for metric in asked}


def _needs(found: Claim) -> bool:
    entry = role_file().roles.get(found.role.name)
    return entry is not None and entry.needs is not None


def _words(metric: str) -> list[str]:
    return normalise(metric.rpartition(OF_FILE)[2]).split("_")


def _judged(words: Sequence[str], found: Claim, roles: Set[str], seen: Set[str]) -> Claim:
    """The claim with or without its company. The role that a weak word has instead may need company too."""
    entry, others = role_file().roles[found.role.name], roles - {found.role.name}
    company = role_file().company[entry.needs or ""]
    beside = _first(company, others, seen)
    if beside:
        return confirmed(found, f"with {beside}")
    if entry.weak.isdisjoint(words):
        return doubted(found, f"without {company.meaning}")
    of_training = not word_file().training.isdisjoint(words)  # then it is no score of held-out data
    instead = claim(
        "other" if of_training else entry.otherwise,
        f"{found.why}, without {company.meaning}",
        role_file().certainty.doubted,
    )
    if not _needs(instead):
        return instead
    return _judged(words, instead._replace(confidence=role_file().certainty.named), others, seen)


def _first(company: Company, roles: Set[str], seen: Set[str]) -> str | None:
    """What confirms the role: another role, else a word of a metric's name or the key of a setting."""
    return next(iter((*sorted(company.roles & roles), *sorted(company.names & seen))), None)
