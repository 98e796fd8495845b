"""Parses the YAML of rules: plain data only, the line of every node kept, duplicate keys and aliases refused.

Only this module imports the YAML library for our own files: a start with compiled data needs none of it.
"""

from pathlib import Path
from typing import Any

import msgspec
import yaml

from loganalyst.errors import RuleError
from loganalyst.rulefiles.folders import MAX_FILE_BYTES
from loganalyst.rulefiles.loading import Keys, RuleFile

MAX_DEPTH = 40  # levels of nesting
_TOO_DEEP = ("nested too deeply", f"at most {MAX_DEPTH} levels")
_TEXT = "tag:yaml.org,2002:str"
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where installed, is 8 times as fast


def parsed(path: Path) -> RuleFile:
    """Parse one YAML file with the safe types only.

    Raises RuleError for a file that cannot be read, is too large or too deep, or has a syntax error, a duplicate key,
    an alias or a tag.
    """
    loader = None
    try:
        loader = _Loader(_content(path))
        tree = _Tree(path, loader)
        return RuleFile(path, tree.document(), tree.lines)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        if too_deep(error):
            raise RuleError(where, *_TOO_DEEP) from None
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise RuleError(where, f"not valid YAML ({problem})") from None
    except OSError as error:
        raise RuleError(path, f"cannot be read ({error.strerror})") from None
    finally:
        if loader is not None:
            loader.dispose()


def too_deep(error: yaml.YAMLError) -> bool:
    """Whether libyaml hit its own nesting limit, which it does before it emits an event."""
    return "maximum nesting depth" in (getattr(error, "problem", None) or "")


def _content(path: Path) -> bytes:
    """All bytes of a regular file. Reading a pipe could block for ever."""
    if path.exists() and not path.is_file():
        raise RuleError(path, "not a regular file", "a YAML file is needed")
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise RuleError(path, f"larger than {MAX_FILE_BYTES // 1_000_000} MB", "plain mappings and lists")
    return data


class _Tree(msgspec.Struct):
    """Builds plain data event by event. The library composes nodes by recursion in C, which deep nesting crashes."""

    path: Path
    loader: Any
    lines: dict[Keys, int] = msgspec.field(default_factory=dict)

    def document(self) -> Any:
        """The only document of the stream; None for an empty stream."""
        self.loader.get_event()
        if self.loader.check_event(yaml.StreamEndEvent):
            return None
        self.loader.get_event()
        data = self.node(self.loader.get_event(), ())
        self.loader.get_event()
        if not self.loader.check_event(yaml.StreamEndEvent):
            raise self.fault(self.loader.get_event(), "found another document", "one document a file")
        return data

    def node(self, event: Any, at: Keys) -> Any:
        """The data that `event` opens; notes the line of each node."""
        self.lines[at] = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise self.fault(event, f"found an alias (*{event.anchor})", "write the value out")
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        if event.tag not in (None, "!"):
            raise self.fault(event, f"not valid YAML here (tag {event.tag})", "plain mappings and lists")
        if len(at) >= MAX_DEPTH:
            raise self.fault(event, *_TOO_DEEP)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(at)
        out: list[Any] = []
        while not isinstance(item := self.loader.get_event(), yaml.SequenceEndEvent):
            out.append(self.node(item, (*at, len(out))))
        return out

    def mapping(self, at: Keys) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        while not isinstance(event := self.loader.get_event(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self.fault(event, "not valid YAML here (a key that is no plain text)", "`key: value`")
            key = self.scalar(event)
            if key in out:
                raise self.fault(event, f"key {key!r} stands twice")
            out[key] = self.node(self.loader.get_event(), (*at, key))
        return out

    def scalar(self, event: Any) -> Any:
        """A number, truth value, date, null or text. Most are texts, which are returned at once."""
        tag = event.tag or self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag == _TEXT:
            return event.value
        try:
            return self.loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark))
        except (ValueError, LookupError) as error:  # 2027-13-01, or more digits than Python turns into a number
            raise self.fault(event, f"not valid YAML ({event.value[:40]!r}: {str(error).split(';')[0]})") from None

    def fault(self, event: Any, what: str, allowed: str = "") -> RuleError:
        return RuleError(f"{self.path}:{event.start_mark.line + 1}", what, allowed)
