"""Lists of numbers without names: `[2.1, 1.9, …]`, `[[step, value], …]`, also a list a line, and Python's spelling.

TensorBoard's page downloads a tag as `[[wall time, step, value], …]`. A few long lists are curves of their own, and
so are a few lines of many numbers; many short ones are rows, of which the first column may count steps. Names: see
`unnamed`. A list that breaks off keeps its intact numbers. Source: TensorBoard 2.20,
`plugins/scalar/scalars_plugin.py`, `OutputFormat.JSON`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from loganalyst.model import Tables
from loganalyst.opening import whole
from loganalyst.sources.discovery.filenames import may_be_table
from loganalyst.sources.files.lineblocks import gap, text
from loganalyst.sources.tables import numberrows
from loganalyst.sources.tables.jsonshape import parse_json

NAME = "numberlists"

HEAD_BYTES = 1 << 16  # that a reader sees: a file with fewer is seen whole
MAX_BYTES = 64 << 20  # of a file: it is read as a whole
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|NaN|nan|Infinity|inf)"
# `[2.1, 1.9, nan`, `[[0, 2.1], [1`, `(0.5, 0.25`
_OPENING = re.compile(rf"\s*[\[(]\s*(?:[\[(]\s*)?(?:{_NUMBER}|null|None)\s*[,\])]")
# a name of Python or a bracket that JSON spells otherwise: `nan`, `-inf`, `None`, `(`, and a dangling comma `,]`
_PYTHON = re.compile(r"\bnan\b|\binf\b|\bNone\b|[()]|,(?=\s*[\])])")
_JSON = {"nan": "NaN", "inf": "Infinity", "None": "null", "(": "[", ")": "]", ",": ""}
_LINE = re.compile(
    rf"\s*{_NUMBER}(?:(?:\s*[,;]\s*|\s+){_NUMBER}){{9,}}"
)  # one line of ten numbers or more: `2.1, 1.9, …`
_BETWEEN = re.compile(r"[,;\s]+")
_WORDS = re.compile(r"NaN|nan|inf|Infinity|null|None|[eE][-+]?\d")  # the only letters between the numbers


def sniff(path: Path, head: bytes) -> float:
    """How surely the file is one of these: it opens with a list and has no other words; 0.9 if named like a metric.

    >>> sniff(Path("train_loss.json"), b"[2.1, 1.9, 1.8]"), sniff(Path("x.json"), b'[2.1, "a"]')
    (0.9, 0.0)
    """
    opening = text(head)
    begins = _are_long(path, head, opening) or _OPENING.match(opening)
    if not begins or re.search(r"[^\W\d_]|[\"{}:]", _WORDS.sub("", opening)):
        return 0.0
    return 0.9 if may_be_table(path.name) else 0.55


def _are_long(path: Path, head: bytes, opening: str) -> bool:
    """Whether the lines are few, and each is a curve: it has many times more numbers than there are lines."""
    first = opening.strip().partition("\n")[0]
    if not _LINE.match(first):
        return False
    size = len(head) if len(head) < HEAD_BYTES else path.stat().st_size
    lines = size / (len(first) + 1)
    return lines < 2 or len(_BETWEEN.split(first.strip())) >= numberrows.LONG * lines


def read(path: Path) -> Iterator[Tables]:
    """The points of the lists; what cannot be read as numbers is a gap. Raises OSError."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        yield Tables(gaps=gap(path, f"lists of numbers: larger than {MAX_BYTES >> 20} MiB", 0, size))
        return
    content = text(whole(path))
    lists, broken = _parsed(content)
    if not lists:
        yield Tables(gaps=gap(path, "no list of numbers", 0, size))
        return
    yield from numberrows.tables(path, lists, content.strip().split("\n")[0])
    if broken:
        yield Tables(gaps=gap(path, f"broken after {sum(map(len, lists)):,} numbers"))


def _parsed(content: str) -> tuple[list[numberrows.Numbers], bool]:
    """The lists of numbers in a text, and whether the last breaks off."""
    if content.lstrip()[:1] not in ("[", "("):
        written = (_BETWEEN.sub(",", line.strip(" \t\r,;")) for line in content.strip().split("\n"))
        content = f"[{','.join(f'[{line}]' for line in written if line)}]"
    spelled = _PYTHON.sub(lambda found: _JSON[found[0]], content)
    data = parse_json(spelled)
    if data is None:
        lines = [parse_json(line.strip().rstrip(",")) for line in spelled.split("\n") if line.strip()]
        data = lines if len(lines) > 1 and all(isinstance(line, list) for line in lines) else None
    if data is not None:
        return numberrows.lists(data), False
    intact = spelled[: spelled.rfind(",")].rstrip()  # the number behind the last comma may be cut
    data = parse_json(intact + "]") or parse_json(intact + "]]") or parse_json(intact.rstrip("] \n") + "]]")
    return numberrows.lists(data), True
