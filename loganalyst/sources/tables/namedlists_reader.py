"""Named lists of numbers that are not JSON: YAML, TOML, and what Python prints or would read back.

`train_loss: [2.1, 1.9]`, `{'loss': [2.1, 1.9], 'val_loss': [2.3, 2.0]}`, `losses = [2.1, 1.9]`. The rules for tables of
lists are those of `jsonshape.number_lists`. Settings hold lists too, so a list must have the name of a result.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loganalyst import filemeasure
from loganalyst.model import Tables
from loganalyst.opening import whole
from loganalyst.sources.files.flatten import TooLargeError, config_table
from loganalyst.sources.files.lineblocks import gap, text
from loganalyst.sources.tables.jsonrows import Log
from loganalyst.sources.tables.jsonshape import number_lists, parse_json, settings_name

NAME = "namedlists"

MAX_BYTES = 8 << 20  # of a file: it is parsed as a whole
MAX_NODES = 200_000  # of a YAML file
MAX_DOTS = 1000  # in a line of TOML, beside those of numbers: a dotted key takes quadratic time
MIN_LISTED = 4  # numbers of a list that the sniffing sees
_NUMBER = r"[-+]?(?:\d{1,24}(?:\.\d{0,24})?(?:[eE][-+]?\d{1,4})?|\.\d{1,24}|\.?nan|\.?inf)"
_RESULT = (
    r"(?:loss|losses|acc|accs|accuracy|accuracies|reward|rewards|return|returns|ppl|perplexity)(?:_history|_list)?"
)
_DECIMAL = re.compile(r"\d\.\d")  # of 2.1
# `loss: [2.1, 1.9`, `'val_acc': [0.5, 0.6`, `losses = [2.1, 1.9`
_FLOW = (
    rf"{_RESULT}['\"]?\s{{0,4}}[:=]\s{{0,4}}\[\s{{0,20}}{_NUMBER}(?:\s{{0,4}},\s{{0,20}}{_NUMBER}){{{MIN_LISTED - 1}}}"
)
_BLOCK = (
    rf"{_RESULT}['\"]?:[ \t]{{0,4}}(?:\r?\n[ \t]{{0,20}}-[ \t]{{1,4}}{_NUMBER}){{{MIN_LISTED}}}"  # loss:\n- 2.1\n- 1.9
)
_TREE = re.compile(rf"{_FLOW}|{_BLOCK}", re.IGNORECASE)
# below any name, of numbers with a point, in a file that is named as a history: `d_history:\n  - 2.1\n  - 1.9`
_FRACTION = r"[-+]?\d{1,24}\.\d{1,24}(?:[eE][-+]?\d{1,4})?"
_ANY_TREE = re.compile(
    rf":[ \t]{{0,4}}(?:\r?\n[ \t]{{0,20}}-[ \t]{{1,4}}{_FRACTION}){{{MIN_LISTED}}}"
    rf"|:[ \t]{{0,4}}\[\s{{0,20}}{_FRACTION}(?:\s{{0,4}},\s{{0,20}}{_FRACTION}){{{MIN_LISTED - 1}}}"
)
# a row of a list or of a numbered block: `- loss: 2.1`, `  val_acc: 0.5`
_IN_ROW = re.compile(
    rf"^[ \t]{{0,20}}(?:-[ \t]+)?([\w ./-]{{0,60}}?{_RESULT}): {{0,4}}({_NUMBER})[ \t\r]*$", re.I | re.M
)
_ABOVE = re.compile(r"(?:(?:#[^\n]*|---[ \t]*|[ \t]*)\r?\n)*")  # comments and the mark of a document
_DICT = re.compile(r"\s*\{\s*['\"]")  # {'loss'
_ASSIGNED = re.compile(
    r"^[ \t]*([A-Za-z_]\w{0,80})[ \t]*=[ \t]*(\[[^\n]*\])[ \t]*$", re.MULTILINE
)  # losses = [2.1, 1.9]
# what Python spells otherwise than JSON: nan, inf, None, True, quotes, tuples, and a comma before a bracket
_PYTHON = re.compile(r"\bnan\b|\binf\b|\bNone\b|\bTrue\b|\bFalse\b|['()]|,(?=\s*[\])}])")
_JSON = {"nan": "NaN", "inf": "Infinity", "None": "null", "True": "true", "False": "false"}
_JSON |= {"'": '"', "(": "[", ")": "]", ",": ""}


def sniff(path: Path, head: bytes) -> float:
    """How surely the file holds such lists: by their names and by its ending; files named as settings are none.

    >>> sniff(Path("hist.yaml"), b"loss: [2.1, 1.9, 1.8, 1.7]"), sniff(Path("a.yaml"), b"betas: [0.9, 0.99, 0.9, 0.9]")
    (0.92, 0.0)
    """
    kind, opening = path.suffix.lower(), text(head)
    if kind not in {".yaml", ".yml", ".toml", ".txt", ".log"} or settings_name(path):
        return 0.0
    if not _TREE.search(opening):
        is_tree = kind in {".yaml", ".yml"} and (
            _opens_rows(opening) or (_is_history(path) and _ANY_TREE.search(opening))
        )
        return 0.92 if is_tree else 0.0
    if kind in {".txt", ".log"} and not (_DICT.match(opening) or _opens_assigned(opening)):
        return 0.0
    return 0.92


def read(path: Path) -> Iterator[Tables]:
    """The points of the lists, and the other values as `config` rows. Raises OSError."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        yield Tables(gaps=gap(path, f"named lists: larger than {MAX_BYTES >> 20} MiB", 0, size))
        return
    data, broken = _parsed(path.suffix.lower(), text(whole(path)))
    lists, log = number_lists(data, path), Log(path)
    yield from log.lists(lists)
    facts = [(key, value) for key, value in data.items() if not isinstance(value, dict | list)]
    yield Tables(config=config_table(facts, path.name, prefix=f"{path.stem}."))
    if broken or not lists:
        yield Tables(gaps=gap(path, broken or "no lists of numbers of one length", 0, size))


def _is_history(path: Path) -> bool:
    """Whether the name of a file says that it holds the course of a training: `last_epoch_history.yaml`."""
    return not filemeasure.HISTORIES.isdisjoint(filemeasure.words(path.stem)) or filemeasure.is_metric(path.stem)


def _opens_rows(opening: str) -> bool:
    """Whether a name of a result comes again and again with another number each time."""
    found = dict[str, set[str]]()
    for name, number in _IN_ROW.findall(opening):
        found.setdefault(name, set()).add(number)
    return any(len(numbers) >= MIN_LISTED for numbers in found.values())


def _opens_assigned(opening: str) -> bool:
    """Whether each of the first lines assigns a list; the last may be cut off."""
    lines = [line for line in opening.split("\n") if line.strip() and not line.startswith("#")]
    return bool(lines) and all(
        re.match(r"[ \t]*[A-Za-z_]\w{0,80}[ \t]*=[ \t]*\[", line) for line in lines[:-1] or lines
    )


def _parsed(kind: str, content: str) -> tuple[dict[str, Any], str]:
    """The names and values of a file, of a broken one what stands before the fault; and the fault (empty: none)."""
    try:
        data, error = _loaded(kind, content)
    except (ValueError, RecursionError, TooLargeError) as fault:
        data, error = None, fault
    found = data if isinstance(data, dict) else {}
    return found, f"broken: {error}"[:200] if error else "" if data is not None else "broken"


def _loaded(kind: str, content: str) -> tuple[Any, Exception | None]:
    if kind == ".toml":
        dotted = any(_DECIMAL.sub("", line).count(".") > MAX_DOTS for line in content.split("\n"))
        return (
            (None, TooLargeError(f"a line with more than {MAX_DOTS:,} dots"))
            if dotted
            else (tomllib.loads(content), None)
        )
    if kind in {".yaml", ".yml"}:
        from loganalyst.sources.config import yamltree  # the YAML library takes 25 ms; few runs have such a file

        above = _ABOVE.match(content)
        below = content[above.end() if above else 0 :]
        return yamltree.parse(f"rows:\n{below}" if below.startswith("- ") else content, nodes=MAX_NODES)
    if _DICT.match(content):
        return parse_json(_as_json(content)), None
    return {found[1]: parse_json(_as_json(found[2])) for found in _ASSIGNED.finditer(content)}, None


def _as_json(content: str) -> str:
    return _PYTHON.sub(lambda found: _JSON[found[0]], content)
