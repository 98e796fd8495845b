"""Duplicate files: hard links, copied folders, and the histories that Hugging Face writes into each checkpoint."""

import os
import re
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from loganalyst.opening import opened
from loganalyst.sources.discovery import filenames
from loganalyst.sources.discovery.folder import Group
from loganalyst.sources.wandb.loggedhistory import has_metrics

COMPARED_BYTES = 1 << 12  # at both ends of two files of the same name and size
MAX_REMEMBERED_FILES = 200_000  # of a walk, that later files are compared with

Key = TypeVar("Key", int, str)


class Copies:
    """Recognises files that a walk met before under another path.

    Event and W&B files carry time, host or id in their names. So a second file of the same name may be a copy; it is
    one if size and both ends agree. Files of any name are the same if inode and device agree.
    """

    def __init__(self) -> None:
        self._inodes: dict[int, str] = {}
        self._names: dict[str, str] = {}

    def leave_out(self, group: Group) -> str:
        """Move the copies among the metrics of `group` to `ignored`, and return the original of the last one.

        A run whose metrics are all copies is left out with its job logs if these are copies too. Otherwise all files
        are kept: half of a run would get another diagnosis than the whole.
        """
        kept, copies = [], list[tuple[str, str]]()
        for path, inode in group.curves:
            if first := self._earlier_path(path, inode):
                copies.append((path, first))
            else:
                kept.append((path, inode))
        if copies and not kept and group.logs and not _same_file(*copies[-1]):
            logs = [(log, _counterpart(log, *copies[-1])) for log in group.logs]
            if all(_same_content(*pair) for pair in logs):
                copies, group.logs = [*logs, *copies], []
            else:
                copies, kept = [], group.curves
        original = copies[-1][1] if copies else ""
        group.ignored += [f"{path}: a copy of {first}" for path, first in copies]
        group.curves = _without_wandb_copies(group, _without_histories(group, kept))
        return original

    def _earlier_path(self, path: str, inode: int) -> str:
        """The path under which the file was met before; empty if it is new."""
        if not inode:
            return ""
        name = os.path.basename(path)
        linked = _remember(self._inodes, inode, path)
        if linked and _same_file(path, linked):
            return linked
        if "tfevents" in name or name.endswith(".wandb"):
            named = _remember(self._names, name, path)
            return named if named and _same_content(path, named) else ""
        return ""


def _remember(known: dict[Key, str], key: Key, path: str) -> str:
    """The path that is known for `key`; empty if the key is new. Of too many keys the oldest is forgotten."""
    if key in known:
        return known[key]
    if len(known) >= MAX_REMEMBERED_FILES:
        del known[next(iter(known))]
    known[key] = path
    return ""


def _counterpart(log: str, copy: str, original: str) -> str:
    """The path that has the same place relative to `original` as `log` has relative to `copy`."""
    return os.path.join(os.path.dirname(original), os.path.relpath(log, os.path.dirname(copy)))


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _same_content(one: str, other: str) -> bool:
    try:
        size = os.path.getsize(one)
        return size > 0 and size == os.path.getsize(other) and _ends(one, size) == _ends(other, size)
    except OSError:
        return False


def _ends(path: str, size: int) -> bytes:
    with opened(path) as file:
        head = file.read(COMPARED_BYTES)
        file.seek(max(size - COMPARED_BYTES, 0))
        return blake2b(head + file.read(COMPARED_BYTES)).digest()


def _without_histories(group: Group, curves: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The curves without earlier histories: Hugging Face writes the whole history into each checkpoint, and the longest
    one counts.
    """
    states = [path for path, _ in curves if os.path.basename(path) == "trainer_state.json"]
    if len(states) < 2:
        return curves
    best = min(states, key=lambda path: (path.count(os.sep), -_number(os.path.dirname(path))))
    group.ignored += [f"{path}: an earlier copy of {best}" for path in states if path != best]
    return [(path, inode) for path, inode in curves if path == best or path not in states]


def _without_wandb_copies(group: Group, curves: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The curves without W&B's summary and its server's history. They repeat the run's own file, unless that file holds
    no metrics.
    """
    histories = {path: filenames.history_of(os.path.basename(os.path.dirname(path))) for path, _ in curves}
    summaries = [path for path, _ in curves if path.endswith("/wandb-summary.json")]
    if not summaries and not any(histories.values()):
        return curves
    ids = {os.path.basename(path)[4:-6] for path, _ in curves if path.endswith(".wandb") and has_metrics(Path(path))}
    again = [path for path, id_ in histories.items() if id_ and id_ in ids]
    group.ignored += [f"{path}: the history of the .wandb file once more" for path in again]
    if ids or any(path.endswith("wandb-history.jsonl") for path, _ in curves):
        again += summaries
    left = set(again)
    return [(path, inode) for path, inode in curves if path not in left]


def _number(name: str) -> int:
    digits = re.findall(r"\d+", os.path.basename(name))
    return int(digits[-1]) if digits else -1
