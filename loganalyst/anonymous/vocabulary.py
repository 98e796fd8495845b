"""The vocabulary of documents: words of `rules/anonymous.yaml` and of roles, and ids of the catalogue."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args

from loganalyst import rulefiles
from loganalyst.namewords import word_file
from loganalyst.rulefiles import ours
from loganalyst.sources.text.patterns import trainerlines
from loganalyst.trainerfiles import trainer_files

_List = Literal[
    "words", "numbered", "settings", "values", "captures", "exceptions", "blocks", "job_states", "job_reasons",
    "operations", "formats", "patterns", "gaps",
]  # fmt: skip
LISTS: tuple[_List, ...] = get_args(_List)
_WORD = re.compile(r"[a-z]+")  # in a regular expression of a role: `loss`, `grad`


@cache
def allowed(name: str) -> frozenset[str]:
    """The words of one of LISTS."""
    return frozenset(map(str, _lists()[name]))


@cache
def _lists() -> Mapping[Any, list[str | int]]:
    return ours("anonymous.yaml", dict[_List, list[str | int]])


@cache
def gaps() -> tuple[str, ...]:
    """The first words of reasons for gaps, the longest first."""
    return tuple(sorted(allowed("gaps"), key=len, reverse=True))


@cache
def words() -> frozenset[str]:
    """The words that names of metrics may keep, in lower case: the listed ones, and those in the patterns of roles."""
    roles = rulefiles.load(rulefiles.rules_dir() / "roles.yaml").data
    texts = [*_strings(roles["words"]), *_strings(roles["sets"])]
    texts += [pattern for role in roles["roles"].values() for pattern in _strings(role.get("any", ()))]
    texts += [*word_file().measures.scores, *word_file().measures.errors]
    in_roles = {word for text in texts for word in _WORD.findall(text.lower()) if len(word) > 1}
    return allowed("words") | allowed("numbered") | in_roles


def _strings(tree: Any) -> Iterator[str]:
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
    """Words in other languages that roles recognise."""
    return tuple(re.compile(pattern) for pattern in word_file().languages)


@cache
def patterns() -> frozenset[str]:
    """Ids, labels and parts of the patterns of log lines and of the families of unknown errors."""
    listed = [p for file in rulefiles.load_all(rulefiles.rules_dir() / "text") for p in file.data["patterns"]]
    listed += rulefiles.load(rulefiles.rules_dir() / "wording.yaml").data["families"]
    found = {str(p[key]) for p in listed for key in ("id", "label", "part") if p.get(key)}
    return allowed("patterns") | found


@cache
def witnesses() -> frozenset[str]:
    """Texts of log lines that point to a trainer of ours."""
    return frozenset(trainerlines.witnesses(trainer_files()))


@cache
def rules() -> frozenset[str]:
    """Ids of all rules and symptoms."""
    found = {path.stem for path in rulefiles.yaml_files(rulefiles.rules_dir()) if path.parent != rulefiles.rules_dir()}
    symptoms = rulefiles.load(rulefiles.rules_dir() / "symptoms.yaml").data
    return frozenset(found | {*_strings(list(symptoms))} | {s.get("id", "") for s in _mappings(symptoms)})


def _mappings(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for value in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _mappings(value)
