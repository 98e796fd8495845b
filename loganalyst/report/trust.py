"""Settings and rules other than ours: those that are obeyed, and those that are not because they came with a run."""

from collections.abc import Iterable, Mapping
from typing import Any

from loganalyst.model import OURS, Diagnosis, SettingsFile
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean

OBEYED, IGNORED = "Obeyed", "Not obeyed"


def rows(*diagnoses: Diagnosis) -> tuple[Row, ...]:
    """A row for each settings file that is obeyed, and for each that is not."""
    obeyed, ignored = _files(diagnoses)
    labelled = [*((OBEYED, s) for s in obeyed), *((IGNORED, s) for s in ignored)]
    return tuple(Row(label, f"{clean(s.file)}: {s.what.removeprefix('not obeyed, ')}") for label, s in labelled)


def data(*diagnoses: Diagnosis) -> dict[str, list[dict[str, str]]]:
    """The same files for JSON."""
    obeyed, ignored = _files(diagnoses)
    return {
        "settings_obeyed": [{"file": s.file, "what": s.what} for s in obeyed],
        "settings_ignored": [{"file": s.file, "why": s.what} for s in ignored],
    }


def _files(diagnoses: Iterable[Diagnosis]) -> tuple[list[SettingsFile], list[SettingsFile]]:
    """The files that are obeyed and those that are not, each once."""
    ds = list(diagnoses)
    obeyed = dict.fromkeys(s for d in ds for s in d.settings_obeyed)
    return list(obeyed), list(dict.fromkeys(s for d in ds for s in d.settings_ignored))


def foreign(origin: str | None) -> str:
    """The file of a rule or pattern that is not ours; empty for ours."""
    return clean(origin) if origin and origin != OURS else ""


def entries(runs: Iterable[Mapping[str, Any]], column: str) -> dict[str, int]:
    """The entries of a column of an audit's run list (one entry a line), with the number of runs that have each."""
    found: dict[str, int] = {}
    for run in runs:
        for entry in (run[column] or "").splitlines():
            found[entry] = found.get(entry, 0) + 1
    return found


def counted(obeyed: Mapping[str, int], ignored: Mapping[str, int]) -> dict[str, list[dict[str, Any]]]:
    """Entries and their numbers of runs for JSON, of the settings that were obeyed and of those that were not."""
    files = [(parsed(entry), n) for entry, n in obeyed.items()]
    return {
        "settings_obeyed": [{"file": s.file, "what": s.what, "runs": n} for s, n in files],
        "settings_ignored": [{"file": file, "why": "it came with a run", "runs": n} for file, n in ignored.items()],
    }


def parsed(entry: str) -> SettingsFile:
    """An entry `FILE: what` as an object."""
    file, _, what = entry.rpartition(": ")
    return SettingsFile(file, what)
