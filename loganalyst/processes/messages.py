"""Pickled messages on a pipe between a worker and the process that started it, each behind its length."""

import pickle
from typing import IO, Any

_LENGTH_BYTES = 8  # before each message


def send(pipe: IO[bytes] | None, message: object) -> None:
    """Write one message. Raises BrokenPipeError where nobody reads any more."""
    assert pipe
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "little"))
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> Any:
    """The next message; None at the end of the pipe."""
    assert pipe
    if len(head := pipe.read(_LENGTH_BYTES)) < _LENGTH_BYTES:
        return None
    data = pipe.read(size := int.from_bytes(head, "little"))
    return pickle.loads(data) if len(data) == size else None
