"""Untrusted YAML as plain data, event by event: unknown tags are ignored, and aliases share their target.

The library's own composer recurses in C (200,000 brackets crash the process) and copies merged mappings.
"""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import msgspec
import yaml

from loganalyst.rulefiles.parsing import too_deep
from loganalyst.sources.files.flatten import TooLargeError

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SCALARS = {f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float")}
_MERGE = type("Merge", (), {"__str__": lambda _: "<<"})()  # the key that merges other mappings into this one
_MAX_NUMBER = 40  # characters; a base-60 number takes quadratic time
_CONTAINERS: dict[type, type] = {yaml.MappingStartEvent: dict, yaml.SequenceStartEvent: list}
_Put = Callable[[Any], object]


def parse(content: str, *, nodes: int = 100_000, depth: int = 40) -> tuple[dict[str, Any], yaml.YAMLError | None]:
    """The mappings of all documents, merged, up to the first error; and that error.

    Raises TooLargeError for more than `nodes` nodes (merged ones counted) or a nesting deeper than `depth`.
    """
    tree, documents = _Tree(_Loader(content), nodes, depth), list[Any]()
    error = None
    try:
        while not tree.loader.check_event(yaml.StreamEndEvent):
            if tree.loader.check_event(yaml.StreamStartEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent):
                tree.loader.get_event()
            else:
                tree.node(documents.append, 0)
    except yaml.YAMLError as found:
        if too_deep(found):
            raise tree.too_deep() from None
        error = found
    return {key: value for found in documents if isinstance(found, dict) for key, value in found.items()}, error


class _Tree(msgspec.Struct):
    loader: Any
    nodes: int
    depth: int
    anchors: dict[str, Any] = msgspec.field(default_factory=dict)

    def node(self, put: _Put, depth: int) -> None:
        """Read one node. A container is `put` in its place before it is filled, so that an error keeps its start."""
        self._count(1)
        event = self.loader.get_event()
        if isinstance(event, yaml.AliasEvent):
            put(self.anchors.get(str(event.anchor)))
            return
        if depth > self.depth:
            raise self.too_deep()
        kind = _CONTAINERS.get(type(event))
        value = kind() if kind else self._scalar(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        put(value)
        if kind is dict:
            self._pairs(value, depth + 1)
        elif kind is list:
            while not self.loader.check_event(yaml.SequenceEndEvent):
                self.node(value.append, depth + 1)
            self.loader.get_event()

    def too_deep(self) -> TooLargeError:
        """The error for data that are nested too deeply."""
        return TooLargeError(f"nested deeper than {self.depth}")

    def _pairs(self, mapping: dict[Hashable, Any], depth: int) -> None:
        while not self.loader.check_event(yaml.MappingEndEvent):
            keys: list[Any] = []
            self.node(keys.append, depth)
            if keys[0] is _MERGE:
                others: list[Any] = []
                self.node(others.append, depth)
                self._merge(mapping, others[0])
            else:
                self.node(partial(mapping.__setitem__, keys[0] if isinstance(keys[0], Hashable) else "?"), depth)
        self.loader.get_event()

    def _merge(self, mapping: dict[Hashable, Any], value: Any) -> None:
        for other in value if isinstance(value, list) else [value]:
            if isinstance(other, dict):
                self._count(len(other))
                mapping.update({key: item for key, item in other.items() if key not in mapping})

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        """The number, boolean or null in an untagged text, else the text."""
        tag = event.tag
        if tag in (None, "!"):
            tag = self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag == "tag:yaml.org,2002:merge":
            return _MERGE
        if tag not in _SCALARS or len(event.value) > _MAX_NUMBER:
            return event.value
        try:
            return self.loader.construct_object(yaml.ScalarNode(tag, event.value))
        except (ValueError, KeyError, IndexError, yaml.YAMLError):
            return event.value

    def _count(self, nodes: int) -> None:
        self.nodes -= nodes
        if self.nodes < 0:
            raise TooLargeError("too many values (a YAML alias bomb?)")
