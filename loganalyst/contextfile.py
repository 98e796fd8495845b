"""`--context FILE`: JSON that names the artefacts, symptoms and limits of a case."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec.structs import asdict

from loganalyst.errors import RuleError, SourceError
from loganalyst.rulefiles import Keys, RuleFile, Shape, load, needed, typed

__all__ = ["Case", "read"]

_NEEDED = "a text or a list of texts is needed"
_TIME_NEEDED = "a number of seconds above 0, or a time such as '5 minutes'"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"([0-9.]{1,12}) *(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?)")  # `5 minutes`, `90 s`
_MAX_SECONDS = 1e9
_OneOrMore = Annotated[str | tuple[str, ...], needed(_NEEDED)]
_Time = Annotated[float | str, needed(_TIME_NEEDED)]
_Format = Literal["terminal", "markdown", "json", "html", "sarif", "structured_diagnosis"]


class _Artifacts(Shape, frozen=True):
    runs: _OneOrMore = ()
    loss_curves: _OneOrMore = ()
    logs: _OneOrMore = ()
    training_logs: _OneOrMore = ()
    errors: _OneOrMore = ()
    error_messages: _OneOrMore = ()
    config: _OneOrMore = ()
    code: _OneOrMore = ()
    model_code: _OneOrMore = ()
    checkpoints: _OneOrMore = ()


class _Constraints(Shape, frozen=True):
    max_analysis_time: _Time | None = None
    output_format: _Format | None = None


class _File(Shape, frozen=True):
    task: str = ""
    artifacts: _Artifacts | None = None
    symptoms: _OneOrMore = ()
    constraints: _Constraints | None = None
    output_format: _Format | None = None


class Case(msgspec.Struct, frozen=True):
    """The content of a context file. `runs` and `logs` are diagnosed; a log joins the run before it. Files that are
    `one_training` join whatever comes before them. `config` and `code` are searched for the settings that a fix
    changes. `missing` names paths that do not exist. `seconds` limits the time of the analysis.
    """

    runs: tuple[Path, ...] = ()
    logs: tuple[Path, ...] = ()
    one_training: frozenset[Path] = frozenset()
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
    found = typed(file, _File)
    artifacts = found.artifacts or _Artifacts()
    named = {
        kind: [path.parent / text for text in _several(file, ("artifacts", kind), texts)]
        for kind, texts in asdict(artifacts).items()
    }
    there = {kind: tuple(p for p in paths if p.exists()) for kind, paths in named.items()}
    constraints = found.constraints or _Constraints()
    return Case(
        runs=there["runs"] + there["loss_curves"],
        logs=there["logs"] + there["training_logs"] + there["errors"] + there["error_messages"],
        one_training=frozenset(there["loss_curves"] + there["training_logs"] + there["error_messages"]),
        config=there["config"],
        code=there["code"] + there["model_code"],
        symptoms=_several(file, ("symptoms",), found.symptoms),
        missing=tuple(_missing(file, named)),
        seconds=_seconds(file, constraints.max_analysis_time),
        format=_report(found.output_format or constraints.output_format),
    )


def _report(format_: str | None) -> str | None:
    """The name of the format; `structured_diagnosis` is the JSON object."""
    return "json" if format_ == "structured_diagnosis" else format_


def _seconds(file: RuleFile, time: float | str | None) -> float | None:
    """A time in seconds: `30`, `5 minutes`, `1h`."""
    if time is None:
        return None
    parts = _TIME.fullmatch(time.strip().lower()) if isinstance(time, str) else None
    try:
        seconds = float(parts[1]) * _SECONDS[parts[2][0]] if parts else float(time)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < _MAX_SECONDS:
        at = file.where("constraints", "max_analysis_time")
        raise RuleError(at, f"max_analysis_time is {time!r}", _TIME_NEEDED)
    return seconds


def _several(file: RuleFile, at: Keys, texts: str | tuple[str, ...]) -> tuple[str, ...]:
    several = (texts,) if isinstance(texts, str) else texts
    for i, text in enumerate(several):
        if not text.strip():
            raise RuleError(file.where(*at, i), f"{at[-1]} is {text!r}", _NEEDED)
    return several


def _missing(file: RuleFile, named: Mapping[str, Sequence[Path]]) -> Iterator[str]:
    for kind, paths in named.items():
        for i, path in enumerate(paths):
            if not path.exists():
                yield f"{file.where('artifacts', kind, i)}: {kind} names {path}, which is not there"
