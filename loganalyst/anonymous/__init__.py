"""A run without names, paths and text: enough to show a wrong diagnosis, and safe to publish (docs/anonymous.md)."""

from loganalyst.anonymous.anonymousdocument import SCHEMA, document, render
from loganalyst.anonymous.documentreading import is_document, load

__all__ = ["SCHEMA", "document", "is_document", "load", "render"]
