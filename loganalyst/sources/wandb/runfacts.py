"""The facts about a run in the records of a W&B file: config, summary, environment, start and end."""

import json
from collections.abc import Mapping
from typing import Any

from loganalyst.sources.files.flatten import Leaf, TooLargeError, leaves
from loganalyst.sources.wandb import proto

INTERRUPTED = 255  # exit code after Ctrl-C; an uncaught exception gives 1
OWN = "_wandb"  # prefix for W&B's own facts, and their key among the user's settings
STATE_FIELDS = "config", "facts", "started", "ended", "status", "preempting", "console_lines", "passed"


class Facts:
    """The facts so far. `summary` holds raw JSON by raw key (see `proto.path`); times are seconds since 1970.

    `console_lines` counts the lines printed. `passed` counts the records that are not read, by kind.
    """

    def __init__(self) -> None:
        self.config: dict[str, Any] = {}
        self.facts: dict[str, Leaf] = {}
        self.summary: dict[bytes, bytes] = {}
        self.started = self.ended = 0.0
        self.status: str | None = None
        self.preempting = False
        self.console_lines = 0
        self.passed: dict[str, int] = {}

    def add(self, data: bytes, kind: int, at: int, end: int) -> None:
        """Add the message of a record. Raises ValueError or IndexError if it cannot be decoded."""
        match kind:
            case proto.SUMMARY:
                self.summary |= zip(*proto.items(data, at, end, proto.UPDATE), strict=True)
                for key in proto.items(data, at, end, proto.REMOVE)[0]:
                    self.summary.pop(key, None)
            case proto.OUTPUT:
                self.ended = max(self.ended, proto.time(data, at, end, proto.OUTPUT_TIME))
                for a, b in proto.spans(data, at, end, proto.OUTPUT_LINE):
                    self.console_lines += data.count(b"\n", a, b)
            case proto.CONFIG:
                self._configure(data, at, end)
            case proto.RUN:
                self.started = proto.time(data, at, end, proto.RUN_START)
                self.facts |= proto.settings(data, at, end, proto.RUN_FIELDS)
                for a, b in proto.spans(data, at, end, proto.RUN_CONFIG):
                    self._configure(data, a, b)
            case proto.ENVIRONMENT:
                self.facts |= proto.settings(data, at, end, proto.ENVIRONMENT_FIELDS)
            case proto.PREEMPTING:
                self.preempting = True
            case proto.EXIT:
                code = proto.number(data, at, end, proto.EXIT_CODE)
                self.facts["exit_code"] = code
                ended = "preempted" if self.preempting else "cancelled" if code == INTERRUPTED else "failed"
                self.status = "finished" if code == 0 else ended
            case _ if name := proto.NOT_READ.get(kind):
                self.passed[name] = self.passed.get(name, 0) + 1

    def settings(self) -> tuple[list[tuple[str, Leaf]], str]:
        """Settings and facts under dotted keys; and why the settings are incomplete, or an empty text."""
        found = [(f"{OWN}.{key}", value) for key, value in self.facts.items()]
        try:
            found.extend(leaves(self.config) if self.config else ())
        except TooLargeError as error:
            return found, f"config not read to its end ({error})"
        return found, ""

    def state(self) -> dict[str, Any]:
        """All facts as JSON; see `restore`."""
        plain = {name: getattr(self, name) for name in STATE_FIELDS}
        summary = {key.decode("latin-1"): value.decode("latin-1") for key, value in self.summary.items()}
        return {"facts": json.dumps(plain), "summary": summary}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore from what `state` returned."""
        for name, value in json.loads(state["facts"]).items():
            setattr(self, name, value)
        self.summary = {key.encode("latin-1"): value.encode("latin-1") for key, value in state["summary"].items()}

    def _configure(self, data: bytes, at: int, end: int) -> None:
        """Apply a ConfigRecord, which sets, replaces or removes settings under nested keys."""
        for key, raw in zip(*proto.items(data, at, end, proto.UPDATE), strict=True):
            path = proto.path(key)
            if path and path[0] != OWN:
                self._parent(path)[path[-1]] = json.loads(raw)
        for key in proto.items(data, at, end, proto.REMOVE)[0]:
            if path := proto.path(key):
                self._parent(path).pop(path[-1], None)

    def _parent(self, path: tuple[str, ...]) -> dict[str, Any]:
        """The mapping in the config that contains the last name of `path`; missing ones are created."""
        inner = self.config
        for name in path[:-1]:
            if not isinstance(inner.get(name), dict):
                inner[name] = {}
            inner = inner[name]
        return inner
