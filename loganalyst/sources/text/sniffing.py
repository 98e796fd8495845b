"""Whether a file is a job log: by its name, and by what its first bytes are not."""

import json
import re
from functools import cache
from pathlib import Path

import polars as pl

from loganalyst.namewords import word_file
from loganalyst.sources.text.lines import loglines as textlines
from loganalyst.sources.text.lines.filebatches import UTF16
from loganalyst.sources.text.metrics import barerows, printedtables
from loganalyst.sources.text.patterns import catalogue, userpatterns
from loganalyst.thresholds import reading_limit

# `slurm-7.out`, R's `fit.Rout`, `output.txt`, `train.log`, `train.log.1`, `job.o4711`, `stdout_0`, `log.3`, `out.0.3`
_LOG_NAME = re.compile(
    r"^(slurm|output|stdout|stderr|nohup|console)\b|\.(out|err|log|rout|[oe]\d+)(\.\d+)?$|^(stdout|stderr|std_log)"
    r"|^(log|out|err)(\.\d{1,5}){1,2}$",
    re.I,
)
# `slurm-7_1.out`, `stderr.log`, `job.e4711`
_SURE_NAME = re.compile(r"^slurm-[\d_]+\.(out|err)$|^(output|stdout|stderr)\.log$|\.[oe]\d{3,}$", re.I)
# `conf.yaml`, `metrics.jsonl`: names of other formats
_OTHER_NAME = re.compile(
    r"\.(ipynb|ya?ml|jsonl?|csv|tsv|toml|ini|cfg|conf|env|html?|xml|svg|css|rst|tex|bib|patch|diff|lock)$", re.I
)
# `train.py`, `job.sbatch`
_PROGRAM_NAME = re.compile(r"\.(py|sh|bash|slurm|sbatch|js|c|cc|cpp|cu|cuh|h|hpp|rs|go|java|jl|r|lua)$", re.I)
# A line of a program in one of these languages; a training prints no such line.
# `import x`, `# note`, `lr = 3`, `lr <- 3`, `"""Train."""`, `x = f();`
_CODE = re.compile(
    r"^(?:import|from|def|class|if|for|while|function|func|fn|use|using|local|export|echo)\b"
    r"|^(?:#|//|/\*|--\s|@\w|[\"']{3}|[\w.]+ (?:=|<-) )|[;{]\s*$",
    re.MULTILINE,
)
# The head of another format: `#!/bin/sh`, `<?xml`, `%PDF`, `---` and `key: value` (YAML), `#include`, `import x as y`,
# `from x import y`
_OTHER_FORMAT = re.compile(
    r"\A\s*(?:#!|<\?xml|<!DOCTYPE|<html|%PDF|---\s*\n(?:[#{]|- |[\w .\"'-]+:\s)|#include"
    r"|import (?:[{*\"'(]|(?:static|type) |[\w.*]+(?: as \w+)?\s*(?:[,;#]|$))|from [\w.]+ import )",
    re.I | re.M,
)
_NAMED_VALUE = re.compile(r"[A-Za-z_)\]]['\"]?\s*[:=]\s*['\"]?[-+.\d]")  # `loss: 0.5`, `'loss': '0.5'`, `loss=0.5`
_NO_TABLE_ROW = re.compile(
    r"^\s*\{['\"]|\d(?:it/s|s/it)\b"
)  # `{'loss': 0.5, 'lr': 1e-3}`, `| 3/9 [00:02<00:04, 1.5it/s]`
# `  File "/home/u/train.py", line 12, in <module>`: a program's output, whatever name the file has
_FRAME = re.compile(r'^ *File "[^"\n]{1,300}", line \d{1,7}, in ', re.MULTILINE)
_PRINTED_LINES = 200  # that are searched for those of a training
_TITLED_LINES = 200  # in which such a table must begin
MIN_TEXT_SHARE = 0.97  # of the bytes of a text that are no control characters
# control characters that text does not hold
_CONTROL_BYTES = bytes(range(1, 7)) + bytes(range(14, 27)) + bytes(range(28, 32)) + b"\x7f"


def likeness(path: Path, head: bytes) -> float:
    """How surely (0..1) a file whose first bytes are `head` is a job log."""
    named = 0.6 if _SURE_NAME.search(path.name) else 0.5 if _LOG_NAME.search(path.name) else 0.0
    if not named and _OTHER_NAME.search(path.name):
        text = textlines.head(head) if path.suffix.lower() in (".csv", ".tsv") else ""
        return 0.4 if text and (_is_titled_table(text) or _is_printed(text) or _FRAME.search(text)) else 0.0
    plain = head.replace(b"\x00", b"")
    if head[:2] not in UTF16 and len(plain.translate(None, _CONTROL_BYTES)) < MIN_TEXT_SHARE * len(plain):
        return 0.0
    text = textlines.head(head)
    if not named and _PROGRAM_NAME.search(path.name) and _CODE.search(text):
        return 0.0
    if _OTHER_FORMAT.search(text) or _is_json(text) or _is_table(text):
        return 0.0
    if named:
        return named
    return 0.4 if _is_training_text(text) else 0.0


@cache
def _training_line() -> re.Pattern[str]:
    """A line of a training or a job: `3.2it/s`, `INFO`, `loss: 0.5`, `'step': 3`, `epoch [3`."""
    return re.compile(
        r"(?i)Traceback \(most recent|srun:|slurmstepd|CUDA|\d(?:it/s|s/it)|\b(?:INFO|WARNING|ERROR)\b"
        rf"|{_printed_name()}['\"]?(?:\s*[:=#])?\s*\[?['\"]?[-+]?\d"
    )


@cache
def _named_number() -> re.Pattern[str]:
    """A number behind its name and a sign: `loss: 0.5`, `'step': 3`, `epoch=[3`."""
    return re.compile(rf"(?i){_printed_name()}['\"]?\s*[:=#]\s*\[?['\"]?[-+]?\d")


def _printed_name() -> str:
    """A name that a training prints: `loss`, `epochs`, `step_time`."""
    return rf"\b(?:{'|'.join(word_file().printed)})\w*"


def _is_printed(text: str) -> bool:
    """Whether most lines are those that a training prints, which a program wrote into a file with the name of a table:
    `Epoch:3, mask loss is 0.5`.
    """
    lines = pl.Series([line for line in text.split("\n")[:_PRINTED_LINES] if line.strip()], dtype=pl.String)
    named = lines.str.contains(_named_number().pattern).sum()
    return lines.len() > 1 and named >= reading_limit("printed_share") * lines.len()


def _is_titled_table(text: str) -> bool:
    """Whether other words stand above the names of a table, which no reader of tables takes."""
    lines = pl.DataFrame({"text": text.split("\n")[:_TITLED_LINES]}).with_row_index("row")
    rows = barerows.cells(lines)["row"]
    return len(rows) > 0 and int(rows[0]) > 1


def is_plain_text(path: Path, head: bytes) -> bool:
    """Whether the file may be read as a log although nothing in its opening is known: text, and no file of a program.

    >>> is_plain_text(Path("notes.txt"), b"Start\\nTraining options:\\n")
    True
    >>> is_plain_text(Path("train.py"), b"import torch\\n")
    False
    """
    named_otherwise = _OTHER_NAME.search(path.name) or _PROGRAM_NAME.search(path.name)
    if not head or named_otherwise or (0 in head and head[:2] not in UTF16):
        return False
    return len(head.translate(None, _CONTROL_BYTES)) >= MIN_TEXT_SHARE * len(head)


def is_training(head: bytes) -> bool:
    """Whether these lines are those of a training or a job."""
    return _is_training_text(textlines.head(head))


def _is_training_text(text: str) -> bool:
    """As `is_training`, for text."""
    lines = pl.Series(text.split("\n"))
    is_training_line = lines.str.contains(_training_line().pattern).any() or printedtables.headed(lines)
    return is_training_line or catalogue.match(lines, userpatterns.known(userpatterns.here())).height > 0


def _is_json(text: str) -> bool:
    """Whether the text begins with a JSON object."""
    head = [line for line in text.split("\n") if line.strip()][:2]
    if not head or head[0].lstrip()[0] not in "{[":
        return False
    try:
        return isinstance(json.loads(head[0]), dict)
    except (ValueError, RecursionError):
        return bool(re.match(r"\s*[\[{]\s*(\"|$)", head[0]))


def _is_table(text: str) -> bool:
    """Whether the text is a table.

    It is one with several tabs in the first line that do not separate names from values. It is one, too, with the same
    number of commas (two or more) in each of the first five lines, no spaces around words, and not a name before the
    values of each line. A printed dictionary or a progress bar is no row.
    """
    head = text.split("\n")[:5]
    if any(map(_NO_TABLE_ROW.search, head)):
        return False
    if head[0].count("\t") > 1 and not (_NAMED_VALUE.search(head[0]) or _training_line().search(head[0])):
        return True
    counts = {line.count(",") for line in head}
    even = len(head) == 5 and len(counts) == 1 and counts.pop() >= 2
    return even and not re.search(r"\w \w", head[0]) and not all(map(_NAMED_VALUE.search, head))
