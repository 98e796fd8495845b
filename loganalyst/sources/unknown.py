"""Why no reader knows a file, and what to do about it: the last resort where nothing could be read."""

import re
from collections.abc import Sequence
from pathlib import Path

from loganalyst.opening import opened
from loganalyst.sources import formats
from loganalyst.sources.files import compressed
from loganalyst.sources.files.lineblocks import text
from loganalyst.sources.flightrecorder.plainpickle import RefusedError
from loganalyst.sources.tables import picklednumbers
from loganalyst.sources.tables.picklecalls import ClassError
from loganalyst.sources.tables.pickles_reader import PROTOCOLS

# the first bytes of formats that are not read, and what to do
_KNOWN = {
    b"PK\x03\x04": "compressed by zip: unpack it first",
    b"\x04\x22\x4d\x18": "compressed by lz4: unpack it first",
    b"7z\xbc\xaf": "compressed by 7z: unpack it first",
    b"\x89HDF\r\n\x1a\n": "HDF5: export its numbers as CSV or JSON",
    b"\x89PNG": "an image: name the file with its numbers",
    b"%PDF": "a PDF: name the file with its numbers",
}
_PICKLE = re.compile(rb"\x80[\x02-\x05]|[}\]]q[\x00-\x05]|\([dl]p\d")  # the first opcodes of a pickle
PICKLE = "is a pickle, which can run code and is not loaded: export it as JSON or CSV"
NO_HISTORY = "is a pickle without a history of numbers: export its numbers as JSON or CSV"
_WORD = re.compile(r"[^\s,;|()\[\]{}]+")  # `0.5` and `loss` in "(0.5, loss)"
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")  # `1.5e-3`; no part of a date
_DOTTED = re.compile(r"[A-Za-z_]{1,60}\.[A-Za-z_]")  # the class of a layer: `models.common.Concat`
_SETTING = re.compile(r"([A-Za-z_][\w.-]{0,80})[ \t]{0,8}[:=][ \t]{0,8}[^\s]{1,80}")  # `max_steps: 500`
MIN_SHARE = 0.5  # of the words of a text that are numbers; a larger share of lines with such a class makes it code
_SAMPLE = 60  # characters of a line that is shown


def why(head: bytes) -> str:
    """Why no reader knows a file that begins with `head`, for a gap.

    >>> why(b"\\x80\\x04\\x95\\x10")
    'is a pickle, which can run code and is not loaded: export it as JSON or CSV'
    """
    if _PICKLE.match(head):
        return _pickle(head)
    if known := next((words for magic, words in _KNOWN.items() if head.startswith(magic)), None):
        return known
    if twice := compressed.compression(head):
        return f"compressed twice, inside by {twice}: unpack it first"
    if head[257:262] == b"ustar":
        return "an archive (tar): unpack it first"
    nul = head.find(b"\0")
    if nul >= 0:
        return f"binary data of no known log format (a NUL byte at offset {nul})"
    return numbers(text(head)) or "no known log format"


def _pickle(head: bytes) -> str:
    """Why a pickle is not read: the class that it holds first, or that it holds no history."""
    if not head.startswith(PROTOCOLS):
        return PICKLE
    try:
        return PICKLE if picklednumbers.opening(head) is None else NO_HISTORY
    except ClassError as error:
        return PICKLE.replace("a pickle", f"a pickle of `{error.name}`")
    except RefusedError:
        return PICKLE


def numbers(content: str) -> str:
    """What a text of numbers holds, and how to write it so that it is read; empty for other texts.

    >>> numbers("0 2.5\\n1 2.25 7\\n2 1.5\\n")
    '3 lines, most with 2 numbers, such as `0 2.5`: write one row a step, below a header line such as `step,loss`'
    """
    lines = [line.strip() for line in content.split("\n")[:-1] or [content] if line.strip()]
    words = [_WORD.findall(line) for line in lines]
    counts = [sum(_NUMBER.fullmatch(word) is not None for word in line) for line in words]
    if not lines or sum(counts) < MIN_SHARE * sum(map(len, words)):
        return ""
    if sum(_DOTTED.search(line) is not None for line in lines) > MIN_SHARE * len(lines) or _settings(lines):
        return ""
    usual = max(counts, key=counts.count)
    sample = lines[counts.index(usual)]
    short = sample if len(sample) <= _SAMPLE else f"{sample[: _SAMPLE - 1]}…"
    of = f"{len(lines):,} lines, most with {usual} number{'' if usual == 1 else 's'}" if len(lines) > 1 else "one line"
    what = f"{of}, such as `{short}`" if len(lines) > 1 else f"{of}, `{short}`"
    return f"{what}: write one row a step, below a header line such as `step,loss`"


def _settings(lines: Sequence[str]) -> bool:
    """Whether each line sets a name of its own, such as `max_steps: 500`: these are no rows of a table.

    >>> _settings(["lr: 0.1", "steps: 500"]), _settings(["loss: 0.5", "loss: 0.4"])
    (True, False)
    """
    named = [_SETTING.fullmatch(line) for line in lines]
    names = [found[1] for found in named if found]
    return len(set(names)) == len(lines)


def of_file(path: Path) -> str:
    """Why a file makes no run of its folder: it must be named itself, or cannot be read at all."""
    try:
        with opened(path) as file:
            head = file.read(formats.HEAD)
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if not head:
        return "empty file"
    return "name the file itself to read it" if formats.reader(path, head) else why(head)
