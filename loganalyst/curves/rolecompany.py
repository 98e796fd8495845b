"""The company that a role needs: a reward has an agent, a discriminator has a generator (`rules/roles.yaml`)."""

from collections.abc import Iterable

from loganalyst.curves.roleclaims import Claim, Claims, claim, confirmed, doubted
from loganalyst.curves.rolefile import Company, Entry, role_file
from loganalyst.curves.roles import normalise
from loganalyst.model import OF_FILE


def changes(claims: Claims, settings: Iterable[str]) -> Claims:
    """The metrics whose role needs company: surer with it, unsure or of another role without it. `settings` are the
    dotted keys of the run's settings.
    """
    file = role_file()
    entries = {metric: file.roles.get(c.role.name) for metric, c in claims.items()}
    asked = {metric: (entry, file.company[entry.needs]) for metric, entry in entries.items() if entry and entry.needs}
    if not asked:
        return {}
    seen = {word for metric in claims for word in _words(metric)}
    seen |= {key.rpartition(".")[2].lower() for key in settings}
    roles = {c.role.name for c in claims.values()}
    return {
        metric: _judged(
            metric, claims[metric], entry, company, _first(company, roles - {claims[metric].role.name}, seen)
        )
        for metric, (entry, company) in asked.items()
    }


def _words(metric: str) -> list[str]:
    return normalise(metric.rpartition(OF_FILE)[2]).split("_")


def _first(company: Company, roles: set[str], seen: set[str]) -> str | None:
    """What confirms the role: another role, else a word of a metric's name or the key of a setting."""
    return next(iter((*sorted(company.roles & roles), *sorted(company.names & seen))), None)


def _judged(metric: str, found: Claim, entry: Entry, company: Company, beside: str | None) -> Claim:
    if beside:
        return confirmed(found, f"with {beside}")
    lacks = f"without {company.meaning}"
    if entry.weak.intersection(_words(metric)):
        return claim(entry.otherwise, f"{found.why}, {lacks}", role_file().certainty.doubted)
    return doubted(found, lacks)
