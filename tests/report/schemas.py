"""Checks that hold for every published JSON Schema."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

FOLDER = Path(__file__).parents[2] / "docs/schema"


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema below a schema."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from nodes(value)


def check(schema: dict[str, Any], name: str) -> None:
    """It is valid, published as `loganalyst schema NAME` prints it, and leaves no object or list open."""
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.dumps(schema, indent=2) + "\n" == (FOLDER / f"{name}-1.json").read_text(encoding="utf-8")
    for node in nodes(schema):
        if node.get("type") == "object":
            assert node.get("properties") or node.get("additionalProperties")
        if node.get("type") == "array":
            assert node["items"]


def accepts(schema: dict[str, Any], document: Any) -> bool:
    """Whether a document fits a schema."""
    return bool(jsonschema.Draft202012Validator(schema).is_valid(document))
