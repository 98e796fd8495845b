"""Who had a say beside our rules: settings and rules that are obeyed, those that came with a run, what is not ours."""

from collections.abc import Iterable, Mapping
from typing import Any

from loganalyst.model import OURS, Diagnosis, SettingsFile
from loganalyst.report.common.wording import clean
from loganalyst.report.diagnosis.overview import Row

OBEYED, IGNORED = "Obeyed", "Not obeyed"


def rows(*diagnoses: Diagnosis) -> tuple[Row, ...]:
    """A row for each file that is obeyed, and for each that is not."""
    obeyed = dict.fromkeys(s for d in diagnoses for s in d.settings_obeyed)
    ignored = dict.fromkeys(s for d in diagnoses for s in d.settings_ignored)
    said = [*((OBEYED, s) for s in obeyed), *((IGNORED, s) for s in ignored)]
    return tuple(Row(label, f"{clean(s.file)}: {s.what.removeprefix('not obeyed, ')}") for label, s in said)


def data(*diagnoses: Diagnosis) -> dict[str, list[dict[str, str]]]:
    """The same for JSON."""
    obeyed = dict.fromkeys(s for d in diagnoses for s in d.settings_obeyed)
    ignored = dict.fromkeys(s for d in diagnoses for s in d.settings_ignored)
    return {
        "settings_obeyed": [{"file": s.file, "what": s.what} for s in obeyed],
        "settings_ignored": [{"file": s.file, "why": s.what} for s in ignored],
    }


def foreign(origin: str | None) -> str:
    """The file of a rule or pattern that is not ours; empty where there is none."""
    return clean(origin) if origin and origin != OURS else ""


def entries(runs: Iterable[Mapping[str, Any]], column: str) -> dict[str, int]:
    """The entries of a column of an audit's listing (one a line), with the runs that have each."""
    found: dict[str, int] = {}
    for run in runs:
        for entry in (run[column] or "").splitlines():
            found[entry] = found.get(entry, 0) + 1
    return found


def told(entry: str) -> SettingsFile:
    """An entry `FILE: what`."""
    file, _, what = entry.rpartition(": ")
    return SettingsFile(file, what)
