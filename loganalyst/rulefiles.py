"""Finds and safely loads the YAML under `rules/` (and the user's own): line numbers kept, duplicate keys refused."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from loganalyst.errors import RuleError, nearest

Keys = tuple[str | int, ...]
PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_TEXT = "tag:yaml.org,2002:str"
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where there is one: 8x


@dataclass(frozen=True)
class RuleFile:
    """A loaded file: plain data, and the line (from 1) of every node by its path of keys and list positions."""

    path: Path
    data: Any
    lines: Mapping[Keys, int]

    def where(self, *keys: str | int) -> str:
        """``path:line`` of the node at `keys`, or of its nearest parent."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return f"{self.path}:{self.lines.get(keys, 1)}"

    def check_keys(self, at: Keys, required: Collection[str], optional: Collection[str] = ()) -> None:
        """Refuse a node that is no mapping, lacks a `required` key or has one outside both sets (RuleError)."""
        node = self.get(at)
        allowed = [*required, *optional]
        if not isinstance(node, dict):
            raise RuleError(
                self.where(*at), f"found {type(node).__name__}", f"a mapping with {', '.join(allowed)} is needed"
            )
        for key in node:
            if key not in allowed:
                hint = nearest(str(key), allowed) or f"allowed are {', '.join(allowed)}"
                raise RuleError(self.where(*at, key), f"unknown key {key!r}", hint)
        if missing := [key for key in required if key not in node]:
            raise RuleError(self.where(*at), f"missing {', '.join(missing)}", f"required are {', '.join(required)}")

    def get(self, at: Keys) -> Any:
        """The node at a path of keys."""
        node = self.data
        for key in at:
            node = node[key]
        return node


@cache
def rules_dir() -> Path:
    """The catalogue's folder: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    return next((p for p in (package / "rules", package.parent / "rules") if p.is_dir()), package / "rules")


def yaml_files(folder: Path) -> list[Path]:
    """All `*.yaml` below `folder`, sorted by path."""
    return sorted(folder.rglob("*.yaml"))


def load(path: Path) -> RuleFile:
    """Load one YAML file with the safe types only; RuleError for a syntax error, a duplicate key or an alias."""
    loader = None
    try:
        loader = _Loader(path.read_bytes())
        node = loader.get_single_node()
        lines: dict[Keys, int] = {}
        data = _build(loader, node, (), lines, path=path, built=set()) if node is not None else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        raise RuleError(where, f"not valid YAML ({getattr(error, 'problem', error)})") from None
    except OSError as error:
        raise RuleError(path, f"cannot be read ({error.strerror})") from None
    finally:
        if loader is not None:
            loader.dispose()
    return RuleFile(path, data, lines)


def _build(loader: Any, node: yaml.Node, at: Keys, lines: dict[Keys, int], *, path: Path, built: set[yaml.Node]) -> Any:
    """Plain data of a composed node, noting where each part stands."""
    lines[at] = node.start_mark.line + 1
    if node in built:  # an alias gives the same node again, and chains of them grow without bound
        raise RuleError(f"{path}:{lines[at]}", "found an alias (*name)", "write the value out")
    built.add(node)
    if not isinstance(node, yaml.ScalarNode) and node.tag not in PLAIN:
        raise RuleError(f"{path}:{lines[at]}", f"not valid YAML here (tag {node.tag})", "plain mappings and lists")
    if isinstance(node, yaml.MappingNode):
        out: dict[Any, Any] = {}
        for key_node, value in node.value:
            key = _scalar(loader, key_node)
            if key in out:
                raise RuleError(f"{path}:{key_node.start_mark.line + 1}", f"key {key!r} stands twice")
            out[key] = _build(loader, value, (*at, key), lines, path=path, built=built)
        return out
    if isinstance(node, yaml.SequenceNode):
        return [_build(loader, item, (*at, i), lines, path=path, built=built) for i, item in enumerate(node.value)]
    return _scalar(loader, node)


def _scalar(loader: Any, node: yaml.Node) -> Any:
    """A scalar's value; most are texts, for which the constructor would only look up that they are."""
    is_text = node.tag == _TEXT and isinstance(node, yaml.ScalarNode)
    return node.value if is_text else loader.construct_object(node, deep=True)


def load_all(folder: Path) -> Iterator[RuleFile]:
    """Every YAML file below `folder`."""
    return map(load, yaml_files(folder))
