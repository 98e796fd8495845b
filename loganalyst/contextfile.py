"""`--context FILE`: JSON that names the artefacts, symptoms and limits of a case."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec.structs import asdict

from loganalyst.errors import RuleError, SourceError
from loganalyst.rulefiles import Keys, RuleFile, Shape, load, needed, typed

__all__ = ["Case", "read"]

_NEEDED = "a text or a list of texts is needed"
_OneOrMore = Annotated[str | tuple[str, ...], needed(_NEEDED)]


class _Artifacts(Shape, frozen=True):
    runs: _OneOrMore = ()
    logs: _OneOrMore = ()
    errors: _OneOrMore = ()
    config: _OneOrMore = ()
    code: _OneOrMore = ()
    checkpoints: _OneOrMore = ()


class _Constraints(Shape, frozen=True):
    max_analysis_time: Annotated[float, needed("a number of seconds above 0", gt=0, lt=1e9)] | None = None


class _File(Shape, frozen=True):
    artifacts: _Artifacts | None = None
    symptoms: _OneOrMore = ()
    constraints: _Constraints | None = None
    output_format: Literal["terminal", "markdown", "json", "html", "sarif"] | None = None


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
    found = typed(file, _File)
    artifacts = found.artifacts or _Artifacts()
    named = {
        kind: [path.parent / text for text in _several(file, ("artifacts", kind), texts)]
        for kind, texts in asdict(artifacts).items()
    }
    there = {kind: tuple(p for p in paths if p.exists()) for kind, paths in named.items()}
    return Case(
        runs=there["runs"],
        logs=there["logs"] + there["errors"],
        config=there["config"],
        code=there["code"],
        symptoms=_several(file, ("symptoms",), found.symptoms),
        missing=tuple(_missing(file, named)),
        seconds=found.constraints.max_analysis_time if found.constraints else None,
        format=found.output_format,
    )


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
