"""A run without names, paths and text: enough to show a wrong diagnosis, and safe to publish (docs/anonymous.md)."""

from loganalyst.anonymous.anonymousdocument import document, render
from loganalyst.anonymous.documentreading import load
from loganalyst.anonymousfiles import SCHEMA, is_document

__all__ = ["SCHEMA", "document", "is_document", "load", "render"]
