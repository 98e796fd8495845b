"""What `check` says about the settings of a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loganalyst.model.features import FeatureValue
from loganalyst.model.shortrepr import Short
from loganalyst.model.trainingkinds import TrainingKind

SettingSeverity = Literal["wrong", "unusual", "record"]


@dataclass(frozen=True)
class Publication:
    """A paper or a page of documentation that a range comes from."""

    author: str
    year: int
    title: str
    url: str


@dataclass(frozen=True, repr=False)
class CheckedSetting(Short):
    """One value that a check asked about.

    `key` is the setting as the config writes it, `file` where it stands; both are None for a value that was worked out
    or logged.
    """

    name: str
    meaning: str
    unit: str
    value: FeatureValue
    key: str | None = None
    file: str | None = None


@dataclass(frozen=True, repr=False)
class SettingFinding(Short):
    """A setting that cannot be right (`wrong`), that few use (`unusual`), or that should be recorded (`record`).

    `text` says what was found, `usual` which values are usual, `why` what follows from it, and `change` what to set
    instead. `settings` are the values that it is about.

    >>> SettingFinding("adapter-rank", "Adapters", "Rank", "unusual", "r is 1")
    SettingFinding(id='adapter-rank', topic='Adapters', title='Rank', severity='unusual', text='r is 1')
    """

    id: str
    topic: str
    title: str
    severity: SettingSeverity
    text: str
    usual: str = ""
    why: str = ""
    change: str = ""
    settings: tuple[CheckedSetting, ...] = ()
    sources: tuple[Publication, ...] = ()


@dataclass(frozen=True, repr=False)
class UsualSetting(Short):
    """A setting within its usual range."""

    id: str
    topic: str
    title: str
    usual: str
    setting: CheckedSetting


@dataclass(frozen=True, repr=False)
class MissingSetting(Short):
    """A setting that was looked for and not found. `keys` are some names under which it was looked for."""

    name: str
    meaning: str
    keys: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class SettingsCheck(Short):
    """What the settings of one run or config say.

    `facts` are the values that describe the training, `findings` the settings to look at (the worst first), `usual`
    the settings within their range, `missing` those that were looked for and not found. `settings` counts the settings
    that were read; `kind` is the kind of training.
    """

    path: Path
    settings: int
    kind: TrainingKind | None = None
    facts: tuple[CheckedSetting, ...] = ()
    findings: tuple[SettingFinding, ...] = ()
    usual: tuple[UsualSetting, ...] = ()
    missing: tuple[MissingSetting, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether a setting cannot be right."""
        return any(finding.severity == "wrong" for finding in self.findings)


def amount(value: float) -> str:
    """A number as people write settings: `3e-4`, `0.95`, `2,000`.

    >>> from loganalyst.model import amount
    >>> amount(0.0003), amount(0.95), amount(2000.0), amount(1.5e-05), amount(3e9)
    ('3e-4', '0.95', '2,000', '1.5e-5', '3e9')
    """
    if float(value).is_integer() and abs(value) < 1e7:
        return f"{value:,.0f}"
    if 1e-2 <= abs(value) < 1e7:
        return f"{value:.4g}"
    digits, exponent = f"{value:.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
