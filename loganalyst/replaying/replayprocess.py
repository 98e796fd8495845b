"""The process in which the user's code runs: of its own session, watched for time and memory, ended with its children.

It answers in lines of JSON, which are checked and never unpickled. Memory is what the processes hold (seen on Linux
only): a limit of addresses would end every program that uses CUDA, which reserves them freely.
"""

import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from loganalyst.errors import ReplayError

_START = "from loganalyst.replaying.replaychild import serve; serve()"
TOKEN = "LOGANALYST_REPLAY"  # marks the process and all it starts, wherever they flee
LOOK = 0.2  # seconds between two looks at time and memory
LONGEST = 4_000_000  # bytes of an answer
PRINTED = 2_000  # last bytes of what the user's code printed, for an error
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class EndedError(ReplayError):
    """The process was ended, or ended itself: it answers no more."""


class Sandbox:
    """The other process, for at most `budget` seconds and `memory` bytes. Use it as a context."""

    def __init__(self, entry: str, budget: float, memory: int) -> None:
        self._entry, self._budget, self._memory = entry, budget, memory
        self._token = secrets.token_hex(16)
        self._phase, self._printed, self._buffer = "starting", b"", b""

    def __enter__(self) -> "Sandbox":
        self._deadline = time.monotonic() + self._budget
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # what deterministic sums on a GPU ask for
            TOKEN: self._token,
        }
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment, start_new_session=True,
        )  # fmt: skip
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._selector = selectors.DefaultSelector()
        assert self._child.stdout
        os.set_blocking(self._child.stdout.fileno(), False)
        self._selector.register(self._child.stdout, selectors.EVENT_READ)
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()
        self._selector.close()

    def ask(self, order: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Its answers to one order: any number of kind `at` (how far it is), then one that is `ready` or `measured`.

        Raises ReplayError for an error of the user's code, EndedError where it answers no more.
        """
        assert self._child.stdin
        with suppress(OSError):  # it died; that shows when its answer is waited for
            self._child.stdin.write(json.dumps(order).encode() + b"\n")
            self._child.stdin.flush()
        while True:
            answer = self._answer()
            if answer["kind"] == "error":
                where, what, allowed = (str(answer.get(key, ""))[:600] for key in ("where", "what", "allowed"))
                raise ReplayError(where, what, allowed)
            if answer["kind"] == "at":
                self._phase = str(answer.get("phase", ""))[:120]
            yield answer
            if answer["kind"] != "at":
                return

    def _answer(self) -> dict[str, Any]:
        """The next line it says; on the way it is watched."""
        while b"\n" not in self._buffer:
            if not self._selector.select(LOOK):
                self._look()
                continue
            assert self._child.stdout
            if not (data := self._child.stdout.read1(1 << 16)):  # type: ignore[attr-defined]
                raise self._died()
            self._buffer += data
            if len(self._buffer) > LONGEST:
                raise self._over("its answer is longer than an answer can be")
        self._look()
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or not isinstance(answer.get("kind"), str):
            raise self._over(f"it said what is no answer ({line[:60]!r})")
        return answer

    def _look(self) -> None:
        if time.monotonic() > self._deadline:
            raise self._over(f"did not end within the budget of {self._budget:g} s")
        held = _held(self._child.pid)
        if held > self._memory:
            raise self._over(f"took {held / 1e9:.1f} GB of memory, more than the {self._memory / 1e9:.1f} GB it may")

    def _over(self, why: str) -> EndedError:
        """What is said of one that was ended."""
        self.stop()
        return EndedError(self._entry, f"{why}, while {self._phase}; it was ended{self._last_words()}")

    def _died(self) -> EndedError:
        code = self._child.wait()
        self.stop()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return EndedError(self._entry, f"its process ended by itself ({how}), while {self._phase}{self._last_words()}")

    def _last_words(self) -> str:
        lines = self._printed.decode("utf-8", "replace").strip().splitlines()
        return f"; the last it printed: {lines[-1][:200]!r}" if lines else ""

    def _listen(self) -> None:
        """Keep the end of what the user's code prints; a pipe that nobody reads would stop it."""
        assert self._child.stderr
        with suppress(OSError, ValueError):
            while data := self._child.stderr.read1(1 << 16):  # type: ignore[attr-defined]
                self._printed = (self._printed + data)[-PRINTED:]

    def stop(self) -> None:
        """End it with all it started."""
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.kill()
        self._child.wait()
        for process in _marked(self._token):  # in a session of their own
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        self._listener.join(1.0)
        for pipe in (self._child.stdin, self._child.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()


def _held(session: int) -> int:
    """Bytes of memory that the processes of a session hold; what several share counts once. 0 where it is not told."""
    total = 0
    for folder in _processes():
        try:
            rest = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if int(rest[3]) == session:
                size = [int(n) for n in (folder / "statm").read_bytes().split()]
                total += (size[1] - (size[2] if folder.name != str(session) else 0)) * PAGE
        except (OSError, IndexError, ValueError):  # it has just ended
            continue
    return total


def _marked(token: str) -> list[int]:
    """Processes whose environment has the token: those that left the session too."""
    mark, found = f"{TOKEN}={token}".encode(), []
    for folder in _processes():
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def _processes() -> list[Path]:
    with suppress(OSError):
        return [Path(entry.path) for entry in os.scandir("/proc") if entry.name.isdigit()]
    return []


def free() -> int:
    """Bytes of memory that the machine has free; of one that does not tell, more than any has."""
    with suppress(OSError, ValueError, IndexError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    return 1 << 60
