import json
from pathlib import Path

import jsonschema

from loganalyst.report.diagnosis.schema import schema

FILE = Path(__file__).parents[3] / "docs/schema/diagnosis-1.json"


def nodes(node):
    """Every schema below a schema."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from nodes(value)


def test_it_is_a_valid_schema():
    """The schema fits the draft it names."""
    jsonschema.Draft202012Validator.check_schema(schema())


def test_the_published_file_is_current():
    """docs/schema holds what `loganalyst schema` prints (write it anew with that command)."""
    assert json.dumps(schema(), indent=2) + "\n" == FILE.read_text(encoding="utf-8")


def test_every_object_and_list_says_what_is_in_it():
    """No `{}` and no `[]` is left open."""
    for node in nodes(schema()):
        if node.get("type") == "object":
            assert node.get("properties") or node.get("additionalProperties")
        if node.get("type") == "array":
            assert node["items"]
