"""Rotated logs: `train.log.2.gz`, `train.log.1` and `train.log` are one log, oldest part first."""

import re

from loganalyst.sources.files.compressed import SUFFIX

# train.log.2
_NUMBERED = re.compile(r"(.*\.(?:log|out|err|txt))\.(\d{1,4})", re.IGNORECASE | re.DOTALL)


def part_of(path: str) -> tuple[str, int]:
    """The log that a file belongs to, and how many rotations ago it was written (0: the current file)."""
    name = SUFFIX.sub("", path)
    hit = _NUMBERED.fullmatch(name)
    return (hit[1], int(hit[2])) if hit else (name, 0)


def order(path: str) -> tuple[str, int, str]:
    """A key that sorts paths by name, and the parts of one log from the oldest to the newest."""
    log, age = part_of(path)
    return log, -age, path
