"""What an error that no pattern knows speaks of, told by its words (`rules/wording.yaml`).

A message of a program we have never met still speaks of something: of memory, a connection, a checkpoint. In plain
words `CUDAOutOfMemoryError`, `OUT_OF_MEMORY` and `out-of-memory` are the same, whoever prints them.
"""

from dataclasses import dataclass
from functools import cache

import polars as pl

from loganalyst import rulefiles
from loganalyst.errors import RuleError
from loganalyst.rulefiles import RuleFile
from loganalyst.sources.log.patterns import LABELS, check_regex

SAID = 600  # characters of a line in which it says what it is about
_PLAIN = (
    (r"\w+://\S+", " url "),
    (r"(?:[A-Za-z]:)?(?:[\w.~-]*[\\/]){2,}([\w.+@-]*)", "$1"),  # of a path its last name
    *2 * ((r"([a-z\d])([A-Z][A-Za-z])", "$1 $2"),),  # twice: the first time takes what begins the next
    (r"([A-Z])([A-Z][a-z])", "$1 $2"),
    (r"[_-]+", " "),
)
_REGEXES = ("regex", "also", "not")
_SPEECH = ("error", "no_error", "complaint", "no_complaint")


@dataclass(frozen=True)
class Family:
    """Messages that speak of one thing: in plain words `regex` and `also` match, `exclude` does not. `ending`: so many
    words are in it that only a log's last words are taken for it, no exception that is printed in its midst.
    """

    id: str
    label: str
    regex: str
    also: str | None
    exclude: str | None
    ending: bool
    match: tuple[str, ...]
    no_match: tuple[str, ...]


@cache
def families() -> tuple[Family, ...]:
    """All of them, in the order in which they are asked. Raises RuleError."""
    file = _file()
    return tuple(_family(file, i) for i in range(len(file.data["families"])))


@cache
def speech(kind: str) -> str:
    """The regex of lines that say of themselves that they tell of an error (`error`), or only sound so (`complaint`),
    and of those that do not although they look so (`no_error`, `no_complaint`). Raises RuleError.
    """
    file = _file()
    regexes = file.data["speech"][kind]
    for i, regex in enumerate(regexes):
        check_regex(file.where("speech", kind, i), regex)
    return "|".join(f"(?:{regex})" for regex in regexes)


def _file() -> RuleFile:
    file = rulefiles.load(rulefiles.rules_dir() / "wording.yaml")
    file.check_keys((), ("speech", "families"))
    file.check_keys(("speech",), _SPEECH)
    return file


def plain(text: pl.Series) -> pl.Series:
    """Each text in plain words, in lower case."""
    said = text.str.head(SAID)
    for regex, instead in _PLAIN:
        said = said.str.replace_all(regex, instead)
    return said.str.to_lowercase()


def told(text: pl.Series, *, last: bool) -> pl.DataFrame:
    """The family of each line of an error: `pattern` (its id) and `label`, NULL where its words are of none. `last`:
    they are last words of a log.
    """
    said = pl.DataFrame({"said": plain(text)})
    asked = [one for one in families() if last or not one.ending]
    which = (pl.when(_holds(one)).then(pl.lit(i)) for i, one in enumerate(asked))
    found = said.select(pl.coalesce(*which, pl.lit(None, pl.Int32))).to_series()
    ids, labels = (pl.Series(words, dtype=pl.String) for words in zip(*((a.id, a.label) for a in asked), strict=True))
    return pl.DataFrame([ids.gather(found).alias("pattern"), labels.gather(found).alias("label")])


def _holds(one: Family) -> pl.Expr:
    said = pl.col("said")
    held = said.str.contains(one.regex)
    if one.also:
        held &= said.str.contains(one.also)
    return held & ~said.str.contains(one.exclude) if one.exclude else held


def _family(file: RuleFile, i: int) -> Family:
    at = ("families", i)
    file.check_keys(at, ("id", "label", "regex", "tests"), ("also", "not", "ending"))
    file.check_keys((*at, "tests"), ("match", "no_match"))
    node = file.get(at)
    if node["label"] not in LABELS:
        allowed = f"allowed are {', '.join(LABELS)}"
        raise RuleError(file.where(*at, "label"), f"unknown label {node['label']!r}", allowed)
    for key in _REGEXES:
        if key in node:
            check_regex(file.where(*at, key), node[key])
    return Family(
        node["id"], node["label"], node["regex"], node.get("also"), node.get("not"), bool(node.get("ending")),
        tuple(node["tests"]["match"]), tuple(node["tests"]["no_match"]),
    )  # fmt: skip
