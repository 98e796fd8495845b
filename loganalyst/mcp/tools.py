"""All tools for agents, and the schemas of what they answer.

Answers fit into an agent's context: the likeliest causes and the worst runs come first, and lists are shortened, with
the number of omitted items in `left_out`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loganalyst.mcp import onerun
from loganalyst.mcp.answer import Answer
from loganalyst.mcp.manyruns import ManyRuns

__all__ = ["WRITING", "output_schema", "tools"]

WRITING = ("audit", "compare", "query")  # into the store, if there is one
OUTLINED = ("type", "description", "enum", "const")  # what an outline keeps of a field's schema


def tools(store: Path | None = None) -> list[Callable[..., Answer]]:
    """All tools, the most important first; `store` is the folder of the store (None: no store)."""
    many = ManyRuns(store)
    return [
        onerun.diagnose,
        many.audit,
        many.compare,
        onerun.check,
        onerun.show,
        onerun.explain,
        onerun.verify,
        onerun.inspect,
        onerun.script,
        many.query,
    ]


def output_schema(name: str) -> dict[str, Any] | None:
    """The outline of the object that a tool answers; None if it answers a text.

    >>> output_schema("verify")["properties"]["outcome"]["enum"]
    ['fixed', 'partly', 'not', 'new_problem', 'cannot_tell']
    """
    from loganalyst.report.audit import schema as audit
    from loganalyst.report.check import schema as check
    from loganalyst.report.comparison import schema as comparison
    from loganalyst.report.diagnosis import schema as diagnosis
    from loganalyst.report.verification import schema as verification

    known = {
        "diagnose": diagnosis,
        "audit": audit,
        "check": check,
        "compare": comparison,
        "verify": verification,
    }
    return _outline(known[name].schema()) if name in known else None


def _outline(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without what is inside its fields. Brief answers leave out fields that are null or empty."""
    fields = {
        name: {key: field[key] for key in OUTLINED if key in field} for name, field in schema["properties"].items()
    }
    return {"type": "object", "description": schema["title"], "properties": fields, "required": ["schema"]}
