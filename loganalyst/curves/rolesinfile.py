"""The roles of the names of one file, by each name and by the others."""

import re
from collections.abc import Iterable, Mapping

from loganalyst.curves.metricnames import CAPITAL, MEASURE_WORDS, names_split, normalise
from loganalyst.curves.rolefile import all_roles, role_file
from loganalyst.curves.rolepatterns import by_name
from loganalyst.model import Role
from loganalyst.namewords import word_file

_TERM_ROLES = ("loss_component", "recon_loss", "quantisation_loss")
_TOTAL_ROLES = {"train_loss", "kl", "generator_loss", "discriminator_loss", "policy_loss", "value_loss"}
_TOTAL_WORDS = {"total", "overall"}
_SPLIT_OR_STEP = re.compile(r"(^|_)(train|step|epoch)(?=_|$)")  # "train_triplet_loss_step"
_SIBLINGS = {"train_loss": "loss_component", "val_loss": "val_loss_component"}


def of_one_file(names: Mapping[str, str]) -> dict[str, tuple[Role, str]]:
    """The role of each metric by its name and by the other names of the file."""
    names = _with_letters_spelt(names)
    roles = by_name(names.values())
    roles |= _only_loss(roles)
    roles |= _measure_terms(roles)
    roles |= _named_sets(roles)
    roles |= _held_out_scores(roles)
    return {metric: roles[name] for metric, name in names.items()}


def _with_letters_spelt(names: Mapping[str, str]) -> Mapping[str, str]:
    """The names, with `train` and `val` for the letters before them if one measure has all (`T_Loss`, `V_Loss`).

    >>> _with_letters_spelt({"T_Acc": "T_Acc", "V_Acc": "V_Acc", "LR": "LR"})
    {'T_Acc': 'train_Acc', 'V_Acc': 'val_Acc', 'LR': 'LR'}
    """
    letters = role_file().letters
    split = {metric: name.partition("_") for metric, name in names.items()}
    lettered = {(letter.lower(), rest.lower()) for letter, _, rest in split.values() if rest}
    if not any(all((letter, rest) in lettered for letter in letters) for _, rest in lettered):
        return names
    return {
        metric: f"{letters[letter.lower()]}_{rest}" if rest and letter.lower() in letters else names[metric]
        for metric, (letter, _, rest) in split.items()
    }


def _only_loss(roles: Mapping[str, tuple[Role, str]]) -> dict[str, tuple[Role, str]]:
    """A training loss logged alone is the total, whatever its name (`triplet_loss`), also if logged by step and by
    epoch.
    """
    if not _TOTAL_ROLES.isdisjoint(role.name for role, _ in roles.values()):
        return {}
    terms = [m for m, (role, _) in roles.items() if role.name in _TERM_ROLES]
    bare = (_SPLIT_OR_STEP.sub("", normalise(m)) for m in terms)
    first = next(bare, None)
    if first is None or any(other != first for other in bare):
        return {}
    return {m: (all_roles()["train_loss"], f"{roles[m][0].name}, the only training loss logged") for m in terms}


def _held_out_scores(roles: Mapping[str, tuple[Role, str]]) -> dict[str, tuple[Role, str]]:
    """An accuracy without a split is held out if every loss names its split and nothing else is a held-out score."""
    names = {role.name for role, _ in roles.values()}
    if "val_loss" not in names or "val_accuracy" in names:
        return {}
    words = {m: set(normalise(CAPITAL.sub("_", m)).split("_")) for m in roles}
    losses = [words[m] for m, (role, _) in roles.items() if role.name == "train_loss"]
    if not losses or not all(w & word_file().training for w in losses):
        return {}
    why = all_roles()["val_accuracy"], "all losses name their data, this metric does not: held out"
    return {m: why for m, (role, _) in roles.items() if role.name == "train_accuracy" and not names_split(m)}


def _named_sets(metrics: Iterable[str]) -> dict[str, tuple[Role, str]]:
    """Roles of names that mean nothing alone but are all present together, in any case of their letters."""
    there: dict[str, list[str]] = {}
    for metric in metrics:
        there.setdefault(metric.lower(), []).append(metric)
    found = [named for named in role_file().sets if there.keys() >= named.keys()]
    return {
        m: (all_roles()[role], f"logged together with {', '.join(named)}")
        for named in found
        for name, role in named.items()
        for m in there[name]
    }


def _measure_terms(roles: Mapping[str, tuple[Role, str]]) -> dict[str, tuple[Role, str]]:
    """A loss named after a measure (`l1_loss`) is a term if there is a total loss, or if all other losses are terms."""
    out: dict[str, tuple[Role, str]] = {}
    for whole, term in _SIBLINGS.items():
        words = {m: set(normalise(m).split("_")) for m, (role, _) in roles.items() if role.name == whole}
        totals = [m for m in words if words[m] & _TOTAL_WORDS]
        measures = [m for m in words if words[m] & MEASURE_WORDS and m not in totals]
        if totals:
            out |= {m: (all_roles()[term], "a measure, next to the total loss") for m in measures}
        elif len(measures) == len(words) and sum(role.name == term for role, _ in roles.values()) > 1:
            out |= {m: (all_roles()[term], "a measure, next to other terms of the loss") for m in measures}
    return out
