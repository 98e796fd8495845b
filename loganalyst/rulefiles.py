"""Finds and safely loads the YAML under `rules/` (and the user's own): line numbers kept, duplicate keys refused."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import yaml

from loganalyst.errors import RuleError, nearest

Keys = tuple[str | int, ...]
LARGEST = 2_000_000  # bytes; rules and corrections are written by people
DEEPEST = 40  # levels of nesting
MOST_ENTRIES = 5_000  # files and folders in a folder of rules
MOST_BYTES = 20_000_000  # of the YAML in it
DEEPEST_FOLDER = 8
_BOUNDS = f"at most {MOST_ENTRIES:,} entries, {MOST_BYTES // 1_000_000} MB of YAML, {DEEPEST_FOLDER} levels of folders"
_TOO_DEEP = ("nested too deeply", f"at most {DEEPEST} levels")
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
def our_digest() -> str:
    """Tells one state of our rules from another."""
    return digest([rules_dir()])


def digest(places: Iterable[Path]) -> str:
    """Tells one state of some files, and of the YAML in some folders, from another: 8 hexadecimal digits."""
    found = blake2b(digest_size=4)
    for place in places:
        for file in [place] if place.is_file() else yaml_files(place):
            found.update(file.relative_to(place).as_posix().encode() + b"\0")
            with suppress(OSError):
                found.update(_head(file))
            found.update(b"\0")
    return found.hexdigest()


def _head(file: Path) -> bytes:
    """As much of a file as is ever read of it, and one byte more."""
    with file.open("rb") as handle:
        return handle.read(LARGEST + 1)


@cache
def rules_dir() -> Path:
    """The catalogue's folder: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    return next((p for p in (package / "rules", package.parent / "rules") if p.is_dir()), package / "rules")


def origin(file: str | Path) -> str:
    """The file, of a rule or pattern that is not ours; empty for one of our catalogue."""
    return "" if Path(file).is_relative_to(rules_dir()) else str(file)


def yaml_files(folder: Path, within: str = "") -> list[Path]:
    """All `*.yaml` in a folder of rules (or in the folder `within` it), sorted by path; none through a link that leads
    out of the folder of rules, or to a folder.

    Raises RuleError for more than MOST_ENTRIES entries or MOST_BYTES, or below DEEPEST_FOLDER: these are no rules.
    """
    home, start = os.path.join(os.path.realpath(folder), ""), os.path.join(folder, within) if within else str(folder)
    found, inner, seen, size = list[Path](), [(start, 0)], 0, 0
    if not os.path.join(os.path.realpath(start), "").startswith(home):
        return []
    for place, depth in inner:
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    inner.append((entry.path, depth + 1))
                elif entry.name.endswith(".yaml") and _inside(entry, home):
                    size += entry.stat().st_size
                    found.append(Path(entry.path))
                if seen > MOST_ENTRIES or size > MOST_BYTES or depth > DEEPEST_FOLDER:
                    raise RuleError(folder, "is too large for a folder of rules", _BOUNDS)
    return sorted(found)


def _inside(entry: "os.DirEntry[str]", home: str) -> bool:
    """Whether it is a file below the folder `home`, and no link out of it."""
    return entry.is_file() and (not entry.is_symlink() or os.path.realpath(entry.path).startswith(home))


def load(path: Path) -> RuleFile:
    """Load one YAML file with the safe types only.

    RuleError for a file that cannot be read, a syntax error, a duplicate key, an alias, a tag, or one past the bounds.
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
    """Whether this is the library's own limit of nesting, which it meets before an event tells how deep it is."""
    return "maximum nesting depth" in (getattr(error, "problem", None) or "")


def _content(path: Path) -> bytes:
    """All bytes of a regular file (a pipe would be waited for without end)."""
    if path.exists() and not path.is_file():
        raise RuleError(path, "not a regular file", "a YAML file is needed")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise RuleError(path, f"larger than {LARGEST // 1_000_000} MB", "plain mappings and lists")
    return data


@dataclass
class _Tree:
    """Plain data built event by event: the library composes nodes by recursion in C, which deep nesting makes crash."""

    path: Path
    loader: Any
    lines: dict[Keys, int] = field(default_factory=dict)

    def document(self) -> Any:
        """The only document of the stream; None where there is none."""
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
        """The data that `event` opens, noting where each part stands."""
        self.lines[at] = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise self.fault(event, f"found an alias (*{event.anchor})", "write the value out")
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        if event.tag not in (None, "!"):
            raise self.fault(event, f"not valid YAML here (tag {event.tag})", "plain mappings and lists")
        if len(at) >= DEEPEST:
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
        """A number, truth value, date, null or text (most are texts: nothing needs to be made of them)."""
        tag = event.tag or self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag == _TEXT:
            return event.value
        try:
            return self.loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark))
        except (ValueError, LookupError) as error:  # 2027-13-01, or more digits than Python turns into a number
            raise self.fault(event, f"not valid YAML ({event.value[:40]!r}: {str(error).split(';')[0]})") from None

    def fault(self, event: Any, what: str, allowed: str = "") -> RuleError:
        return RuleError(f"{self.path}:{event.start_mark.line + 1}", what, allowed)


@cache
def text_files() -> tuple[RuleFile, ...]:
    """The files of our log-line patterns, loaded once."""
    return tuple(load_all(rules_dir() / "text"))


def load_all(folder: Path) -> Iterator[RuleFile]:
    """Every YAML file below `folder`."""
    return map(load, yaml_files(folder))
