"""What a healthy run does in place of a symptom (`rules/expected.yaml`), with the values of the run."""

from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import Annotated

from loganalyst.diagnosis.texttemplate import template
from loganalyst.model import Feature, FeatureValue
from loganalyst.rulefiles import needed, ours

__all__ = ["expected", "texts"]

FILE = "expected.yaml"
_Texts = Annotated[str | tuple[str, ...], needed("a text or a list of texts is needed")]


@cache
def texts() -> Mapping[str, tuple[str, ...]]:
    """The texts by the id of their symptom."""
    found = ours(FILE, dict[str, _Texts])
    return {id_: (said,) if isinstance(said, str) else said for id_, said in found.items()}


def expected(id_: str, declared: Mapping[str, Feature], values: Mapping[str, FeatureValue]) -> str:
    """The first text for the symptom `id_` whose values are known; empty if there is none.

    Texts with a feature that is not among `declared` are passed over.

    >>> expected("gone-silent", {}, {})
    'the log goes on until the run ends'
    """
    known = (text for text in texts().get(id_, ()) if _names(text) <= declared.keys())
    said = (template(text, declared, f"{FILE}: {id_}").render(values) for text in known)
    return next(filter(None, said), "")


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}
