"""A run as a stranger may see it: what shows a wrong diagnosis, without whose training it was (docs/anonymous.md)."""

from loganalyst.anonymous.document import SCHEMA, document, render
from loganalyst.anonymous.reading import is_document, load

__all__ = ["SCHEMA", "document", "is_document", "load", "render"]
