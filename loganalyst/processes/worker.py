"""One worker process: it answers requests, one at a time, with the items of a generator."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from loganalyst.limits import WORKER
from loganalyst.processes.messages import receive, send

if sys.platform == "linux":
    import fcntl

EXIT_SECONDS = 1.0  # that a worker gets to end by itself
_PIPE_BYTES = 1 << 20  # holds most messages, so that the worker goes on while the reader is busy
_HOME = str(Path(__file__).parents[2])  # the folder that this package lies in
_START = "from loganalyst.processes.worker import serve; serve()"


class DiedError(Exception):
    """A worker ended before it answered; the message is its signal or exit code."""


class Worker:
    """One process, which answers one request at a time."""

    def __init__(self, environment: dict[str, str] | None = None, *, quiet: bool = False) -> None:
        # It finds modules where this process does, but nothing in the working directory (-P), which may be a run
        paths = [path for path in sys.path if path]
        if _HOME not in paths:  # as in a checkout that is not installed
            paths.insert(0, _HOME)
        with _ctrl_c_blocked():
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if quiet else None,
                env={**os.environ, **(environment or {}), "PYTHONPATH": os.pathsep.join(paths), WORKER: "1"},
            )
        self.pid = self._process.pid
        self.free = True  # no answer is due
        if sys.platform == "linux" and self._process.stdout:
            with suppress(OSError):  # a user without privileges may enlarge a limited number of pipes
                fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def stream(self, module: str, function: str, *arguments: Any) -> Iterator[Any]:
        """The items that a generator function yields there. Raises its exceptions, and DiedError where the process
        ends. A worker that is not `free` afterwards must be ended.
        """
        self.free = False
        with suppress(BrokenPipeError):  # it died, which reading its answer shows
            send(self._process.stdin, (module, function, arguments))
        while (message := receive(self._process.stdout)) is not None:
            kind, value = message
            self.free = kind != "item"
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
        code = self.end()
        raise DiedError(f"signal {-code}" if code < 0 else f"exit code {code}")

    def end(self) -> int:
        """Close its pipes, and kill it if it does not end by itself; its exit code."""
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        try:
            return self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once; a caller that waits for its answer gets a DiedError."""
        self._process.kill()


def serve() -> None:
    """What a worker does: answer one request after another, until its standard input is closed."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # anything else that is printed is no message
    while (request := receive(sys.stdin.buffer)) is not None:
        module, function, arguments = request
        try:
            for item in getattr(import_module(module), function)(*arguments):
                send(out, ("item", item))
            send(out, ("end", None))
        except BrokenPipeError:  # the reader is gone
            return
        except Exception as error:
            send(out, ("error", error))


def load(module: str) -> tuple[()]:
    """Import a module, and yield nothing: later requests for it start at once."""
    import_module(module)
    return ()


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Processes started in here do not see Ctrl-C: this process ends them."""
    blocks = hasattr(signal, "pthread_sigmask")  # not on Windows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else set()
    try:
        yield
    finally:
        if blocks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
