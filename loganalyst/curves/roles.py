"""Assigns roles to metric names, by `rules/roles.yaml` and the user's corrections."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache

import msgspec

from loganalyst.curves.rolefile import Entry, all_roles, role_file
from loganalyst.curves.rolenames import FirstLook
from loganalyst.errors import RuleError, nearest
from loganalyst.model import OF_FILE, Role
from loganalyst.namewords import in_english, word_file

__all__ = [
    "MAX_NAME",
    "MEASURE_WORDS",
    "all_roles",
    "assign",
    "corrected",
    "measure",
    "names_held_out",
    "names_split",
    "normalise",
    "proposed",
    "turned",
]


class _Pattern(msgspec.Struct, frozen=True):
    role: Role
    phrases: tuple[str, ...]
    any: str
    none: str
    only: frozenset[str] | None
    without: frozenset[str]
    held_out: frozenset[str] | None

    def reason(self, name: str) -> str | None:
        """Why the normalised `name` fits this role, or None."""
        if self.held_out is not None and self.held_out.isdisjoint(name.split("_")):
            return None
        if not self.without.isdisjoint(name.split("_")):
            return None
        if self.only is not None and not all(map(str.isdigit, {*name.split("_")} - self.only)):
            return None
        if not _regex(self.any).search(name) or (self.none and _regex(self.none).search(name)):
            return None
        hit = next(phrase for phrase in self.phrases if _regex(phrase).search(name))
        return f"name has {hit!r}"


@cache
def _regex(phrase: str) -> re.Pattern[str]:
    """A phrase between word boundaries of a normalised name: "loss" in "train_loss", not in "lossy"."""
    return re.compile(f"(?:^|_)(?:{phrase})(?:_|$)")


_TERM_ROLES = ("loss_component", "recon_loss", "quantisation_loss")
_TOTAL_ROLES = {"train_loss", "kl", "generator_loss", "discriminator_loss", "policy_loss", "value_loss"}
_TOTAL_WORDS = {"total", "overall"}
MEASURE_WORDS = {"l1", "l2", "mse", "mae", "rmse", "huber", "bce", "ce", "nll"}
MAX_NAME = 500  # only the last characters of a name count, because patterns with `.*` take quadratic time
_SPLIT_OR_STEP = re.compile(r"(^|_)(train|step|epoch)(?=_|$)")  # "train_triplet_loss_step"
_SIBLINGS = {"train_loss": "loss_component", "val_loss": "val_loss_component"}
_WORD = re.compile(r"[^\W_]+")
_RECALL_CURVE = re.compile(r"(?:^|_)(?:pr|prc|precision|recall)(?:_|$)")  # `pr_auc`
_POSSESSIVE = re.compile(r"['’]s\b")  # "critic's loss"
_VAGUE_ROLES = {"other", "loss_component", "val_loss_component"}
_ONE_MINUS = re.compile(r"(?<![a-z0-9])1 ?- ?(?=[a-z])")  # "1-acc", "val/1 - ssim", not "layer1-acc"
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")  # between "val" and "Loss" in "valLoss"
_WINDOW = re.compile(r"(?<=[a-z]{5})(?=[0-9]{2,4}$)")  # before the 100 in "meanReward100"
_MEANS = frozenset({"avg", "mean", "average"})


@lru_cache(1 << 16)  # the same names come several times
def normalise(name: str) -> str:
    """Lower-case words joined by `_`, in English if `rules/words.yaml` knows them. Other characters than letters and
    digits separate words; a possessive `'s` is dropped. One minus a score is an error. The last of several words is
    made singular. A last word such as "history" is dropped.

    >>> normalise("Val/Loss"), normalise("test/1-SSIM"), normalise("val_losses"), normalise("reward_history")
    ('val_loss', 'test_error_of_ssim', 'val_loss', 'reward')
    """
    lower = _ONE_MINUS.sub("error of ", _POSSESSIVE.sub("", name.lower()))
    *words, last = _WORD.findall(in_english(lower)) or [""]
    if words and last in word_file().list_words:
        *words, last = words
    if words and last in _MEANS:  # `train losses.avg`
        words[-1] = word_file().plurals.get(words[-1], words[-1])
    return "_".join([*words, word_file().plurals.get(last, last) if words else last])


@cache
def _catalogue() -> tuple[_Pattern, ...]:
    file = role_file()
    return tuple(_pattern(all_roles()[name], entry, file.words) for name, entry in file.roles.items())


def _pattern(role: Role, entry: Entry, words: Mapping[str, frozenset[str]]) -> _Pattern:
    phrases = entry.any + (word_file().measures.of(entry.measures) if entry.measures else ())
    return _Pattern(
        role,
        phrases,
        "|".join(phrases),
        "|".join(entry.none),
        frozenset().union(*(words[w] for w in entry.only)) if entry.only else None,
        frozenset().union(*(words[w] for w in entry.without)),
        words[entry.held_out] if entry.held_out else None,
    )


def _by_name(metrics: Iterable[str]) -> dict[str, tuple[Role, str]]:
    """Roles by the plain names; where a name shows only that it is a loss, by the words that its capitals begin."""
    plain = {metric: normalise(metric) for metric in metrics}
    plain_roles = _fits(plain.values())
    vague = [metric for metric, name in plain.items() if plain_roles[name][0].name in _VAGUE_ROLES]
    apart = {metric: _WINDOW.sub("_", _CAPITAL.sub("_", metric)) for metric in vague}
    words = {metric: normalise(split) for metric, split in apart.items() if split != metric}
    split = {name: role for name, role in _fits(words.values()).items() if role[0].name != "other"}
    return {metric: split.get(words.get(metric, ""), plain_roles[name]) for metric, name in plain.items()}


def _fits(names: Iterable[str]) -> dict[str, tuple[Role, str]]:
    """The first role that fits each normalised name, by its last MAX_NAME characters."""
    ends, patterns = {name: name[-MAX_NAME:] for name in names}, _catalogue()
    found = {end: _first_role(end, [patterns[k] for k in ks]) for end, ks in _first_look().candidates({*ends.values()})}
    return {name: found[end] for name, end in ends.items()}


@cache
def _first_look() -> FirstLook:
    return FirstLook([(pattern.phrases, pattern.held_out or ()) for pattern in _catalogue()])


def _first_role(name: str, patterns: Iterable[_Pattern]) -> tuple[Role, str]:
    for pattern in patterns:
        if reason := pattern.reason(name):
            return pattern.role, reason
    return all_roles()["other"], "no role fits the name"


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
    return {metric: role for names in _by_file(metrics) for metric, role in _of_one_file(names).items()}


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


def names_split(name: str) -> bool:
    """Whether a name has a word for training or for held-out data.

    >>> names_split("train/loss"), names_split("loss")
    (True, False)
    """
    return not (word_file().training | role_file().words["val"]).isdisjoint(_split_words(name))


def measure(name: str) -> str:
    """The normalised name without words for training or held-out data.

    >>> measure("val/precision"), measure("precision")
    ('precision', 'precision')
    """
    splits = word_file().training | role_file().words["val"]
    return "_".join(word for word in _split_words(name) if word not in splits)


def is_unbounded(name: str) -> bool:
    """Whether a name has a score whose best value is neither 1 nor 100.

    >>> is_unbounded("val/PSNR"), is_unbounded("val_ssim")
    (True, False)
    """
    return _among(normalise(name), word_file().measures.unbounded)


def score_of_chance(name: str) -> float | None:
    """The score of a constant answer, 0 or 1/2; None where it is not known, or for the area under another curve.

    >>> score_of_chance("val/r2"), score_of_chance("val_auroc"), score_of_chance("val_acc"), score_of_chance("pr_auc")
    (0.0, 0.5, None, None)
    """
    plain, measures = normalise(name), word_file().measures
    if _among(plain, measures.zero_by_chance):
        return 0.0
    of_recall = _RECALL_CURVE.search(plain)
    return 0.5 if _among(plain, measures.half_by_chance) and not of_recall else None


def _among(name: str, words: Sequence[str]) -> bool:
    """Whether one of the regexes of scores fits some words of a normalised name: `psnr`, `val_si_sdr`, `pesq_mean`."""
    return bool(_regex("|".join(words)).search(name))


def names_held_out(name: str) -> bool:
    """Whether a name has a word for held-out data.

    >>> names_held_out("valid"), names_held_out("train_inner")
    (True, False)
    """
    return not role_file().words["val"].isdisjoint(normalise(name).split("_"))


def _split_words(name: str) -> list[str]:
    """The words of a name, also those that its capitals begin."""
    return normalise(_CAPITAL.sub("_", name)).split("_")


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


def _of_one_file(names: Mapping[str, str]) -> dict[str, tuple[Role, str]]:
    """The role of each metric by its name and by the other names of the file."""
    names = _with_letters_spelt(names)
    roles = _by_name(names.values())
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
    words = {m: set(normalise(_CAPITAL.sub("_", m)).split("_")) for m in roles}
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
