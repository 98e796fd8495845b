"""Assigns roles to metric names, by `rules/roles.yaml` and the user's corrections."""

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from loganalyst.curves.metricnames import normalise
from loganalyst.curves.rolefile import all_roles, role_file
from loganalyst.curves.rolesinfile import of_one_file
from loganalyst.errors import RuleError, nearest
from loganalyst.model import OF_FILE, Role
from loganalyst.namewords import word_file

__all__ = ["all_roles", "assign", "corrected", "proposed", "turned"]


def assign(
    metrics: Iterable[str],
    corrections: Mapping[str, str] | None = None,
    known: Mapping[str, tuple[Role, str]] | None = None,
) -> dict[str, tuple[Role, str]]:
    """The role of each metric and why: `proposed` by the names, `known` by the trainer, or `corrected`; then `turned`.

    >>> {metric: role.name for metric, (role, _) in assign(["loss", "episode_reward"]).items()}
    {'loss': 'rl_loss', 'episode_reward': 'reward'}
    """
    metrics = list(metrics)
    stated = corrected(metrics, corrections or {})
    roles = proposed(metrics) | dict(known or {}) | stated
    return roles | turned(roles, {role.name for role, _ in roles.values()}) | stated


def proposed(metrics: Iterable[str]) -> dict[str, tuple[Role, str]]:
    """The role that the names alone propose for each metric, and why."""
    return {metric: role for names in _by_file(metrics) for metric, role in of_one_file(names).items()}


def corrected(metrics: Iterable[str], corrections: Mapping[str, str]) -> dict[str, tuple[Role, str]]:
    """The metrics whose role the user states. `corrections` maps globs to role names. A glob may leave out the file
    that a metric is named after.

    Raises RuleError for a correction that names no role.
    """
    metrics, roles = list(metrics), dict[str, tuple[Role, str]]()
    for glob, name in corrections.items():
        if name not in all_roles():
            problem = f"roles: {glob}: {name!r} is no role"
            hint = nearest(name, all_roles()) or f"roles are {', '.join(all_roles())}"
            raise RuleError("loganalyst.yaml", problem, hint)
        for metric in metrics:
            if fnmatchcase(metric, glob) or fnmatchcase(metric.rpartition(OF_FILE)[2], glob):
                roles[metric] = all_roles()[name], f"loganalyst.yaml: {glob}"
    return roles


def turned(
    roles: Mapping[str, tuple[Role, str]], present: Collection[str], settings: Collection[str] = ()
) -> dict[str, tuple[Role, str]]:
    """The roles that change because roles named in `present`, and settings with these keys, are in the run, and why."""
    found = dict[str, tuple[Role, str]]()
    for turn in role_file().turns:
        if turn.given in present and not (turn.settings and turn.settings.isdisjoint(settings)):
            why = f"{turn.source} in a run with {turn.given}"
            found |= {
                metric: (all_roles()[turn.target], why)
                for metric, (role, _) in {**roles, **found}.items()
                if role.name == turn.source
            }
    return found


def _by_file(metrics: Iterable[str]) -> Iterable[Mapping[str, str]]:
    """The metrics of each file, with the names that decide their roles: without the file name, but after a word for
    training or validation that only the file name contains.
    """
    files: dict[str, dict[str, str]] = {}
    for metric in metrics:
        file, _, name = metric.rpartition(OF_FILE)
        files.setdefault(file, {})[metric] = name
    splits = word_file().training | role_file().words["val"]
    for file, names in files.items():
        word = splits.intersection(normalise(file).split("_"))
        if len(word) == 1:
            without_split = {m for m, name in names.items() if splits.isdisjoint(normalise(name).split("_"))}
            names |= {m: f"{min(word)}/{names[m]}" for m in without_split}
    return files.values()
