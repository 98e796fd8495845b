"""The lock of a store: one process writes at a time, and readers need no lock.

On a local disk it is the lock of a SQLite file, which the system releases when its holder dies. On a network file
system such locks may not work. There it is a file that only one process can create, and that names its holder.
"""

import json
import os
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from loganalyst.errors import StoreError

# Names of file systems in /proc/self/mountinfo. On other systems than Linux a store counts as on a local disk.
NETWORK = {
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "cvmfs", "fhgfs", "fuse.ceph", "fuse.glusterfs", "fuse.juicefs",
    "fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "orangefs", "panfs", "pvfs2",
    "smb3", "smbfs", "virtiofs", "wekafs",
}  # fmt: skip
HEARTBEAT_SECONDS = 20.0  # between signs of life of the holder of a lock file
STALE_SECONDS = 600.0  # without a sign of life, after which the lock of another machine is broken
POLL_SECONDS = 0.2  # between two looks at a lock file of another process


@contextmanager
def writing(folder: Path, patience: float) -> Iterator[None]:
    """Hold the lock of the store. Raises StoreError where another process holds it for longer than `patience` seconds,
    and OSError.
    """
    with lock_file(folder, patience) if on_network(folder) else _lock_database(folder, patience):
        yield


def on_network(folder: Path, mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether the folder lies on a network file system, according to the table of mounts."""
    try:
        rows = [line.split() for line in Path(mounts).read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return False
    real = Path(os.path.realpath(folder))
    # 30 22 0:5 / /home rw shared:2 - nfs4 server:/home rw: the mount point is the fifth field; `-` precedes the type
    kinds = {row[4].replace("\\040", " "): row[row.index("-") + 1] for row in rows if "-" in row[:-1]}
    return next((kinds[str(p)] for p in (real, *real.parents) if str(p) in kinds), "") in NETWORK


def _busy(folder: Path, who: str) -> StoreError:
    return StoreError(folder, f"is being written by {who}", "wait until it is done")


@contextmanager
def _lock_database(folder: Path, patience: float) -> Iterator[None]:
    file = folder / "lock.sqlite"
    if file.exists() and file.stat().st_size:  # we never write to it: another program did
        os.truncate(file, 0)
    with closing(sqlite3.connect(file, timeout=patience, isolation_level=None)) as database:
        try:
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            raise _busy(folder, "another process") from None
        yield


@contextmanager
def lock_file(
    folder: Path, patience: float, heartbeat: float = HEARTBEAT_SECONDS, poll: float = POLL_SECONDS
) -> Iterator[None]:
    """Hold the lock file of a store on a network file system; errors as of `writing`."""
    file, deadline = folder / "lock", time.monotonic() + patience
    while not _create(file):
        _break_stale(file)
        if time.monotonic() > deadline:
            holder = _holder(file)
            raise _busy(folder, f"process {holder.get('pid')} on {holder.get('host')} (its lock is {file})")
        time.sleep(min(poll, patience))
    stop = threading.Event()
    beat = threading.Thread(target=_beat, args=(file, stop, heartbeat), daemon=True)
    beat.start()
    try:
        yield
    finally:
        stop.set()
        beat.join()
        file.unlink(missing_ok=True)


def _create(file: Path) -> bool:
    me = {"host": socket.gethostname(), "pid": os.getpid(), "started": _started(os.getpid()), "time": time.time()}
    try:
        handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w") as out:
        json.dump(me, out)
    return True


def _beat(file: Path, stop: threading.Event, seconds: float) -> None:
    while not stop.wait(seconds):
        with suppress(OSError):
            os.utime(file)


def _holder(file: Path) -> dict[str, Any]:
    """The holder of the lock; empty if the file cannot be read (it is being written, or gone)."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _break_stale(file: Path) -> None:
    """Remove a lock whose holder is dead. Of several processes that notice, one does it."""
    if not _stale(file):
        return
    breaking = file.with_suffix(".breaking")
    with suppress(OSError):
        if time.time() - breaking.stat().st_mtime > STALE_SECONDS:  # that process is dead too
            breaking.unlink()
    if _create(breaking):
        try:
            if _stale(file):
                file.unlink(missing_ok=True)
        finally:
            breaking.unlink(missing_ok=True)


def _stale(file: Path) -> bool:
    holder = _holder(file)
    if holder.get("host") == socket.gethostname() and isinstance(holder.get("pid"), int):
        return not _alive(holder["pid"]) or holder.get("started") != _started(holder["pid"])
    try:
        return _now(file.parent) - file.stat().st_mtime > STALE_SECONDS
    except OSError:
        return False


def _now(folder: Path) -> float:
    """The time by the clock of the file server, which sets the times of files in this folder."""
    probe = folder / f".clock-{socket.gethostname()}-{os.getpid()}"
    try:
        probe.touch()
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _started(pid: int) -> str | None:
    """The start time of a process in the system's count: it distinguishes a reused process number from the holder."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
