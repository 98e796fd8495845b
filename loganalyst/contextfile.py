"""`--context FILE`: JSON that names the artefacts, symptoms and limits of a case."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loganalyst.errors import RuleError, SourceError, nearest
from loganalyst.rulefiles import RuleFile, load

__all__ = ["Case", "read"]

KEYS = ("artifacts", "symptoms", "constraints", "output_format")
ARTIFACTS = ("runs", "logs", "errors", "config", "code", "checkpoints")
CONSTRAINTS = ("max_analysis_time",)
FORMATS = ("terminal", "markdown", "json", "html", "sarif")


@dataclass(frozen=True)
class Case:
    """The content of a context file. `runs` and `logs` are diagnosed; a log joins the run before it. `config` and
    `code` are searched for the settings that a fix changes. `missing` names paths that do not exist. `seconds` limits
    the time of the analysis.
    """

    runs: tuple[Path, ...] = ()
    logs: tuple[Path, ...] = ()
    config: tuple[Path, ...] = ()
    code: tuple[Path, ...] = ()
    symptoms: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: float | None = None
    format: str | None = None


def read(path: Path) -> Case:
    """Read and check the file; its paths are relative to its folder. Raises SourceError if it is missing, and RuleError
    (file, line, what was found, what is allowed) if it is not valid.
    """
    if not path.is_file():
        raise SourceError(path, "no such file", "--context takes a JSON file")
    file = load(path)
    file.check_keys((), (), KEYS)
    for key, allowed in (("artifacts", ARTIFACTS), ("constraints", CONSTRAINTS)):
        if key in file.data:
            file.check_keys((key,), (), allowed)
    named = {kind: _paths(file, kind) for kind in ARTIFACTS}
    there = {kind: tuple(p for p in paths if p.exists()) for kind, paths in named.items()}
    return Case(
        runs=there["runs"],
        logs=there["logs"] + there["errors"],
        config=there["config"],
        code=there["code"],
        symptoms=_texts(file, ("symptoms",)),
        missing=tuple(_missing(file, named)),
        seconds=_seconds(file),
        format=_format(file),
    )


def _paths(file: RuleFile, kind: str) -> tuple[Path, ...]:
    return tuple(file.path.parent / text for text in _texts(file, ("artifacts", kind)))


def _missing(file: RuleFile, named: dict[str, tuple[Path, ...]]) -> Iterator[str]:
    for kind, paths in named.items():
        for i, path in enumerate(paths):
            if not path.exists():
                yield f"{file.where('artifacts', kind, i)}: {kind} names {path}, which is not there"


def _texts(file: RuleFile, at: tuple[str, ...]) -> tuple[str, ...]:
    """A text or a list of texts; empty if the key is absent."""
    value = _get(file, at)
    found = [] if value is None else value if isinstance(value, list) else [value]
    for i, text in enumerate(found):
        if not isinstance(text, str) or not text.strip():
            raise RuleError(file.where(*at, i), f"{at[-1]}: found {text!r}", "a text or a list of texts is needed")
    return tuple(found)


def _get(file: RuleFile, at: tuple[str, ...]) -> Any:
    node = file.data
    for key in at:
        node = (node or {}).get(key)
    return node


def _seconds(file: RuleFile) -> float | None:
    value = _get(file, ("constraints", "max_analysis_time"))
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        where = file.where("constraints", "max_analysis_time")
        raise RuleError(where, f"max_analysis_time: found {value!r}", "a number of seconds above 0")
    return float(value)


def _format(file: RuleFile) -> str | None:
    value = file.data.get("output_format")
    if value is None or value in FORMATS:
        return None if value is None else str(value)
    hint = nearest(str(value), FORMATS) or f"allowed are {', '.join(FORMATS)}"
    raise RuleError(file.where("output_format"), f"output_format: found {value!r}", hint)
