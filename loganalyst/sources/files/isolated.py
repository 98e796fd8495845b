"""Generators that run in a process of their own, because what they call may end its process on damaged bytes.

The process is started at the first call, is used again by the later ones, and ends with this one. It is started by the
interpreter's own path: a fork of a process with threads, as polars has them, may hang, and `multiprocessing` would
run the user's program a second time.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import IO, Any

if sys.platform == "linux":
    import fcntl

_START = "from loganalyst.sources.files.isolated import serve; serve()"
_LENGTH = 8  # bytes before each message
_PIPE = 1 << 20  # bytes: most messages, so that the process goes on while nobody listens


class DiedError(Exception):
    """The other process ended; why."""


def each(module: str, function: str, *arguments: Any) -> Iterator[Any]:
    """What the generator `function` of `module` yields for `arguments`.

    Raises what it raises, and DiedError where its process ends; what it had yielded before has been given.
    """
    with _LOCK:
        child = _CHILDREN.pop() if _CHILDREN else _started()
    done = False
    try:
        with suppress(BrokenPipeError):  # it died; that shows when its answer is waited for
            _send(child.stdin, (module, function, arguments))
        while (told := _received(child.stdout)) is not None:
            kind, value = told
            done = kind != "item"
            if done:
                break
            yield value
    finally:
        if done:
            with _LOCK:
                _CHILDREN.append(child)
        else:
            code = _ended(child)
    if not done:
        raise DiedError(f"signal {-code}" if code < 0 else f"exit code {code}")
    if kind == "error":
        raise value


def serve() -> None:
    """What the other process does: one generator after another, until nobody asks any more."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no message
    while (asked := _received(sys.stdin.buffer)) is not None:
        module, function, arguments = asked
        try:
            for item in getattr(import_module(module), function)(*arguments):
                _send(out, ("item", item))
            _send(out, ("end", None))
        except BrokenPipeError:  # nobody wants the rest
            return
        except Exception as error:
            _send(out, ("error", error))


_CHILDREN: list[subprocess.Popen[bytes]] = []  # that wait for work
_LOCK = Lock()


def _started() -> subprocess.Popen[bytes]:
    """A process that finds the modules where this one does, and nothing in the working directory."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _START],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    if sys.platform == "linux" and child.stdout:
        with suppress(OSError):  # it needs no permission up to some number of pipes
            fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, _PIPE)
    return child


def _ended(child: subprocess.Popen[bytes]) -> int:
    """Its exit code; it is made to end where it did not."""
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            if pipe:
                pipe.close()
    try:
        return child.wait(1.0)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def _send(pipe: IO[bytes] | None, message: object) -> None:
    assert pipe
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_LENGTH, "little"))
    pipe.write(data)
    pipe.flush()


def _received(pipe: IO[bytes] | None) -> Any:
    """The next message; None where there is none any more."""
    assert pipe
    size = int.from_bytes(head, "little") if len(head := pipe.read(_LENGTH)) == _LENGTH else None
    data = b"" if size is None else pipe.read(size)
    return pickle.loads(data) if size is not None and len(data) == size else None
