"""Code for the fixes of a cause (`rules/fixtemplates.yaml`), in the framework that trained the run."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, TypeAlias

from loganalyst.model import CodeTemplate, FeatureValue
from loganalyst.rulefiles import Shape, Text, Texts, needed, ours

__all__ = ["framework", "known", "templates"]

Framework: TypeAlias = Literal["pytorch", "transformers", "lightning", "keras"]
OF_TRAINERS: Mapping[str, Framework] = {  # beginnings of the ids of trainers
    "hf-trainer": "transformers",
    "trl-": "transformers",
    "axolotl": "transformers",
    "llama-factory": "transformers",
    "sentence-transformers": "transformers",
    "lightning": "lightning",
    "keras": "keras",
}
MAX_TEMPLATES = 2
Code = Annotated[dict[Framework, Text], needed("a mapping of frameworks to code", min_length=1)]


class Entry(Shape, frozen=True):
    """A template: the `causes` that it mends, its `code` by framework, and code that `check`s it."""

    title: Text
    causes: Texts
    code: Code
    check: Code


@cache
def known() -> Mapping[str, Entry]:
    """The entries by id."""
    return ours("fixtemplates.yaml", dict[str, Entry])


def framework(values: Mapping[str, FeatureValue]) -> Framework:
    """The framework of the run by its trainer.

    >>> framework({"trainer": "trl-sft"}), framework({})
    ('transformers', 'pytorch')
    """
    trainer = str(values.get("trainer") or "")
    return next((found for start, found in OF_TRAINERS.items() if trainer.startswith(start)), "pytorch")


def templates(cause: str, values: Mapping[str, FeatureValue]) -> tuple[CodeTemplate, ...]:
    """The templates for a rule, the nearest first: an entry lists the causes that it is made for first."""
    wanted = framework(values)
    fitting = sorted((e.causes.index(cause), id_) for id_, e in known().items() if cause in e.causes)
    return tuple(_template(id_, known()[id_], wanted) for _, id_ in fitting[:MAX_TEMPLATES])


def _template(id_: str, entry: Entry, wanted: Framework) -> CodeTemplate:
    found = wanted if wanted in entry.code else "pytorch"
    return CodeTemplate(id_, entry.title, found, entry.code[found])
