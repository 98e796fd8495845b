"""A run as a stranger may see it: what shows a wrong diagnosis, without whose training it was (docs/anonymous.md)."""

from loganalyst.anonymous.anonymousdocument import SCHEMA, document, render
from loganalyst.anonymous.documentreading import is_document, load

__all__ = ["SCHEMA", "document", "is_document", "load", "render"]
