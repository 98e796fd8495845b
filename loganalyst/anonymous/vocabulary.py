"""The texts that a document may contain: words of `rules/anonymous.yaml` and of roles, and our ids."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args

from loganalyst import rulefiles
from loganalyst.rulefiles import ours

_List = Literal[
    "words", "numbered", "settings", "values", "captures", "exceptions", "blocks", "job_states", "job_reasons",
    "operations", "formats", "patterns", "gaps",
]  # fmt: skip
LISTS: tuple[_List, ...] = get_args(_List)
_WORD = re.compile(r"[a-z]+")  # `loss`, `grad` in the regular expression of a role


@cache
def allowed(name: str) -> frozenset[str]:
    """The entries of one of LISTS."""
    return frozenset(map(str, _lists()[name]))


@cache
def _lists() -> Mapping[Any, list[str | int]]:
    return ours("anonymous.yaml", dict[_List, list[str | int]])


@cache
def gaps() -> tuple[str, ...]:
    """The beginnings of the reasons of gaps, the longest first."""
    return tuple(sorted(allowed("gaps"), key=len, reverse=True))


@cache
def words() -> frozenset[str]:
    """The words that metric names may keep, in lower case: listed ones, and those in the patterns of roles."""
    roles = rulefiles.load(rulefiles.rules_dir() / "roles.yaml").data
    texts = [*_strings(roles["words"]), *_strings(roles["sets"])]
    texts += [pattern for role in roles["roles"].values() for pattern in _strings(role.get("any", ()))]
    of_roles = {word for text in texts for word in _WORD.findall(text.lower()) if len(word) > 1}
    return allowed("words") | allowed("numbered") | of_roles


def _strings(tree: Any) -> Iterator[str]:
    """All texts of a tree, keys included."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from _strings(str(key))
            yield from _strings(value)
    elif isinstance(tree, (list, tuple)):
        for value in tree:
            yield from _strings(value)


@cache
def languages() -> tuple[re.Pattern[str], ...]:
    """Patterns of words in other languages that roles recognise."""
    roles = rulefiles.load(rulefiles.rules_dir() / "roles.yaml").data
    return tuple(re.compile(pattern) for pattern in roles["languages"])


@cache
def patterns() -> frozenset[str]:
    """Ids, labels and parts of our patterns of log lines, and of our families of unknown errors."""
    listed = [p for file in rulefiles.load_all(rulefiles.rules_dir() / "text") for p in file.data["patterns"]]
    listed += rulefiles.load(rulefiles.rules_dir() / "wording.yaml").data["families"]
    texts = {str(p[key]) for p in listed for key in ("id", "label", "part") if p.get(key)}
    return allowed("patterns") | texts


@cache
def rules() -> frozenset[str]:
    """Ids of our rules and symptoms."""
    found = {path.stem for path in rulefiles.yaml_files(rulefiles.rules_dir()) if path.parent != rulefiles.rules_dir()}
    symptoms = rulefiles.load(rulefiles.rules_dir() / "symptoms.yaml").data
    return frozenset(found | {*_strings(list(symptoms))} | {s.get("id", "") for s in _mappings(symptoms)})


def _mappings(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for value in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _mappings(value)
