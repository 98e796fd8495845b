"""Write an anonymous document of a run, to report a wrong diagnosis, and read it back (docs/anonymous.md)."""

from loganalyst.anonymous.anonymousdocument import SCHEMA, document, render
from loganalyst.anonymous.documentreading import is_document, load

__all__ = ["SCHEMA", "document", "is_document", "load", "render"]
