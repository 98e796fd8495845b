"""Runs the user's code in a process of its own session, with limits of time and memory, and ends it with its children.

The process answers in lines of JSON, which are checked and never unpickled.
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
from threading import Thread
from typing import Any

from loganalyst.errors import ReplayError
from loganalyst.replaying.processmemory import held_memory, marked_processes

CHILD_CODE = "from loganalyst.replaying.replaychild import serve; serve()"
TOKEN = "LOGANALYST_REPLAY"  # environment variable that marks the process and all that it starts, in any session
CHECK_INTERVAL = 0.2  # seconds between two checks of time and memory
MAX_ANSWER_BYTES = 4_000_000  # longest answer
KEPT_OUTPUT_BYTES = 2_000  # bytes of the user's last output that are kept for an error


class EndedError(ReplayError):
    """The process was ended or has exited: it answers no more."""


class Sandbox:
    """The other process, limited to `budget` seconds and `memory` bytes. Use it as a context."""

    def __init__(self, entry: str, budget: float, memory: int, *, code: str = CHILD_CODE) -> None:
        self._entry, self._budget, self._memory, self._code = entry, budget, memory, code
        self._token = secrets.token_hex(16)
        self._phase, self._printed, self._buffer = "starting", b"", b""

    def __enter__(self) -> "Sandbox":
        self._deadline = time.monotonic() + self._budget
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # required for deterministic sums on a GPU
            TOKEN: self._token,
        }
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", self._code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment, start_new_session=True,
        )  # fmt: skip
        self._drain = Thread(target=self._drain_output, daemon=True)
        self._drain.start()
        self._selector = selectors.DefaultSelector()
        assert self._child.stdout
        os.set_blocking(self._child.stdout.fileno(), False)
        self._selector.register(self._child.stdout, selectors.EVENT_READ)
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()
        self._selector.close()

    def ask(self, order: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The answers to one order: any number of kind `at` (progress), then one of kind `ready` or `measured`.

        Raises ReplayError for an error of the user's code, EndedError if the process answers no more.
        """
        assert self._child.stdin
        with suppress(OSError):  # it has exited; waiting for the answer reports that
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
        """The next line; limits are checked while waiting."""
        while b"\n" not in self._buffer:
            if not self._selector.select(CHECK_INTERVAL):
                self._check_limits()
                continue
            assert self._child.stdout
            if not (data := self._child.stdout.read1(1 << 16)):  # type: ignore[attr-defined]
                raise self._exited()
            self._buffer += data
            if len(self._buffer) > MAX_ANSWER_BYTES:
                raise self._stopped("its answer is too long")
        self._check_limits()
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or not isinstance(answer.get("kind"), str):
            raise self._stopped(f"it sent an invalid answer ({line[:60]!r})")
        return answer

    def _check_limits(self) -> None:
        if time.monotonic() > self._deadline:
            raise self._stopped(f"did not end within the budget of {self._budget:g} s")
        held = held_memory(self._child.pid)
        if held > self._memory:
            raise self._stopped(f"took {held / 1e9:.1f} GB of memory; {self._memory / 1e9:.1f} GB are allowed")

    def _stopped(self, why: str) -> EndedError:
        """End the process; the error says why."""
        self.stop()
        return EndedError(self._entry, f"{why}, while {self._phase}; it was ended{self._last_output()}")

    def _exited(self) -> EndedError:
        code = self._child.wait()
        self.stop()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return EndedError(self._entry, f"its process exited ({how}), while {self._phase}{self._last_output()}")

    def _last_output(self) -> str:
        lines = self._printed.decode("utf-8", "replace").strip().splitlines()
        return f"; its last output: {lines[-1][:200]!r}" if lines else ""

    def _drain_output(self) -> None:
        """Read the user's output and keep its end; a full pipe would block the process."""
        assert self._child.stderr
        with suppress(OSError, ValueError):
            while data := self._child.stderr.read1(1 << 16):  # type: ignore[attr-defined]
                self._printed = (self._printed + data)[-KEPT_OUTPUT_BYTES:]

    def stop(self) -> None:
        """End the process and everything that it started."""
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.kill()
        self._child.wait()
        for process in marked_processes(f"{TOKEN}={self._token}"):  # processes in other sessions
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        self._drain.join(1.0)
        for pipe in (self._child.stdin, self._child.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
