"""Memory and processes from Linux's /proc; other systems report none.

Memory is what the processes hold. A limit of the address space would end every program that uses CUDA, which reserves
addresses freely.
"""

import os
from contextlib import suppress
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
NO_LIMIT = 1 << 60  # bytes, more than any machine has


def held_memory(session: int) -> int:
    """Bytes of memory that the processes of a session hold. Shared memory counts once, with the session's leader."""
    total = 0
    for folder in _processes():
        try:
            # the name in brackets may hold anything; the fields after it are state, parent, group, session
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session:
                size = [int(n) for n in (folder / "statm").read_bytes().split()]  # pages: all, resident, shared
                total += (size[1] - (size[2] if folder.name != str(session) else 0)) * PAGE
        except (OSError, IndexError, ValueError):  # it has just ended
            continue
    return total


def marked_processes(mark: str) -> list[int]:
    """Processes whose environment has the mark, such as `NAME=value`; those that left the session too."""
    found = []
    for folder in _processes():
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def free_memory() -> int:
    """Bytes of memory that the machine has free; `NO_LIMIT` if the system does not report it."""
    with suppress(OSError, ValueError, LookupError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    return NO_LIMIT


def _processes() -> list[Path]:
    with suppress(OSError):
        return [Path(entry.path) for entry in os.scandir("/proc") if entry.name.isdigit()]
    return []
