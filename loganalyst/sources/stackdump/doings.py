"""What a process does, by its stacks (`rules/stacks.yaml`)."""

import itertools
import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from loganalyst.sources.stackdump.stacks import Frame, Process
from loganalyst.sources.text.tracebacks.frames import LIBRARY
from loganalyst.stackdoings import doings

# torch/nn/modules/module.py, threading.py: py-spy leaves out the folder of the libraries
_LIBRARY = re.compile(
    LIBRARY + r"|^(?:torch|deepspeed|accelerate|transformers|lightning|pytorch_lightning|megatron|ray|jax|flax|tqdm"
    r"|fsspec|s3fs|gcsfs|botocore|boto3|urllib3|requests|httpx|httpcore|huggingface_hub|safetensors|orbax|webdataset)/"
    r"|^(?:multiprocessing/)?(?:threading|selectors|queue|queues|connection|socket|ssl|subprocess|runpy|popen_\w+)\.py$"
)

UNKNOWN = "other"  # what no entry of rules/stacks.yaml knows


class Done(NamedTuple):
    """What a process does (a name in `rules/stacks.yaml`, or None), in which call, and where in its own code."""

    doing: str | None
    call: str
    frame: str | None


@cache
def _regexes() -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(doing.frames)) for name, doing in doings().items()}


def done(process: Process) -> Done:
    """What the process does: its main thread, or in a backward pass the thread that waits in a collective."""
    main = next((t for t in process.threads if t.name == "MainThread"), None) or process.threads[-1]
    own = of_frames(main.frames)
    others = [of_frames(t.frames) for t in process.threads if t is not main] if own.doing == "backward" else []
    waiting = next((o for o in others if o.doing and doings()[o.doing].waits), None)
    return waiting._replace(frame=own.frame) if waiting else own


def of_frames(frames: Sequence[Frame]) -> Done:
    """What a thread does, by its frames from the innermost.

    Of a frame by which calls only wait, such as for the device, the library call around it counts.
    """
    known = ((frame, _name(frame)) for frame in frames)
    inner = next((i for i, (_, name) in enumerate(known) if name), None)
    if inner is None:
        return Done(None, frames[0].function if frames else "", _own(frames))
    at = inner
    if doings()[_name(frames[inner])].means:
        around = itertools.takewhile(lambda i: _is_library(frames[i]), range(inner + 1, len(frames)))
        at = next((i for i in around if (name := _name(frames[i])) and not doings()[name].means), inner)
    return Done(_name(frames[at]), frames[at].function, _own(frames))


def _name(frame: Frame) -> str:
    """The first entry that knows a frame; empty if none does."""
    return next((name for name, regex in _regexes().items() if regex.search(str(frame))), "")


def _is_library(frame: Frame) -> bool:
    """Whether a frame is no line of the user's own code. Native frames have no line."""
    return not frame.line or bool(_LIBRARY.search(frame.file))


def _own(frames: Sequence[Frame]) -> str | None:
    """The innermost frame of the user's own code, as `train.py:88 in reduce_loss`."""
    found = next((f for f in frames if not _is_library(f)), None)
    return f"{found.file}:{found.line} in {found.function}" if found else None
